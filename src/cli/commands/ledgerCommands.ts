import type { Command } from 'commander'
import { formatUnits } from 'viem/utils'
import { decimalJson } from '../../base/bigints.js'
import { ConfigError } from '../../base/errors/configError.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import { createNodeClient } from '../../chain/nodeClient.js'
import { bookedChains } from '../../records/books.js'
import type { LedgerDifference, VerifiedAccount } from '../../records/compareLedger.js'
import { type LedgerProof, verifyLedger } from '../../records/verifyLedger.js'
import { chainOf } from '../chainOf.js'
import { readDevChain } from '../dev/devChainDefinition.js'
import { createLogger } from '../createLogger.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'

/** `purser ledger verify`: exit code 1 when the ledger and the chain disagree. */
export function defineLedgerCommand(ledger: Command): void {
  const verify = ledger
    .command('verify')
    .description('derive all balances again from the logs and receipts of the chains, and compare')
    .option('--chain <id>', 'this chain only')
    .option('--from-block <number>', 'read logs from here; default: an hour before the first tank')
    .option('--json', 'print the result as JSON')
  onStore(
    verify,
    async ({ store: { database }, config, flags }) => {
      const { chain: only, fromBlock, json } = flags
      if (fromBlock !== undefined && !/^\d{1,15}$/.test(fromBlock))
        throw new ConfigError('--from-block must be a block number.')
      const booked = await bookedChains(database)
      const known = new Set(
        [...config.chains, readDevChain(config.data)].map((each) => each?.chainId),
      )
      const ids = only === undefined ? booked.filter((id) => known.has(id)).map(String) : [only]
      for (const id of only === undefined ? booked : [])
        if (!known.has(id)) console.error(`Chain ${id} is not configured: it was not compared.`)
      const chains = []
      for (const id of ids) {
        const { chain } = chainOf(config, id)
        const node = createNodeClient({ urls: chain.rpcUrls, logger: createLogger('error') })
        try {
          const days = config.retentionDays
          const from = fromBlock === undefined ? undefined : BigInt(fromBlock)
          const proof = await verifyLedger(database, node, { chainId: chain.chainId, days, from })
          chains.push({ chain, proof })
        } finally {
          await node.close()
        }
      }
      const differences = chains.flatMap(({ proof }) => proof.accounts).filter(({ first }) => first)
      if (json !== undefined) console.log(asJson(chains, differences.length === 0))
      else for (const { chain, proof } of chains) print(chain, proof)
      if (json === undefined)
        console.log(
          differences.length === 0
            ? 'The ledger is what the chains say.'
            : `${differences.length} balances of the ledger are not what the chains say.`,
        )
      if (differences.length > 0) process.exitCode = 1
    },
    ['chains', 'retentionDays'],
  )
}

type Verified = { readonly chain: ChainDefinition; readonly proof: LedgerProof }

function asJson(chains: readonly Verified[], ok: boolean): string {
  const verified = chains.map(({ chain: { chainId }, proof }) => ({ chainId, ...proof }))
  return decimalJson({ ok, chains: verified }, 2)
}

function print(chain: ChainDefinition, { from, to, accounts }: LedgerProof): void {
  console.log(`chain ${chain.chainId}: logs from block ${from}, entries up to block ${to}`)
  printTable(accounts.map((account) => rowOf(chain, account)))
  for (const { kind, holder, first } of accounts)
    if (first) console.log(`FAULT  ${kind} of ${holder}: ${placeOf(first)}${first.text}`)
}

function rowOf({ tokens, nativeCoin }: ChainDefinition, account: VerifiedAccount) {
  const { kind, holder, token, entries, stated, derived, first } = account
  const known = tokens.find(({ address }) => address === token)
  const amount = (units: bigint) =>
    token === undefined
      ? `${formatUnits(units, 18)} ${nativeCoin}`
      : `${formatUnits(units, known?.decimals ?? 0)} ${known?.symbol ?? token}`
  const state = first ? 'differs' : derived === undefined ? 'unknown' : 'ok'
  const chain = derived === undefined ? undefined : amount(derived)
  return { balance: kind, of: holder, entries, stated: amount(stated), chain, state }
}

function placeOf({ blockNumber, userOpHash }: LedgerDifference): string {
  const block = blockNumber === undefined ? [] : [`block ${blockNumber}`]
  const operation = userOpHash === undefined ? [] : [`operation ${userOpHash}`]
  const place = [...block, ...operation].join(', ')
  return place === '' ? '' : `${place}: `
}
