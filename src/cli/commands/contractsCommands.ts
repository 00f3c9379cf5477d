import type { Command } from 'commander'
import { formatEther } from 'viem/utils'
import { ConfigError } from '../../base/errors/configError.js'
import { createNodeClient } from '../../chain/nodeClient.js'
import { getBalance } from '../../chain/nodeReads.js'
import { requireChain } from '../../chain/requireChain.js'
import { type ContractPlan, deployContracts, planContracts } from '../../paymaster/contractPlan.js'
import { type Coins, chainOf, coinsOf } from '../chainOf.js'
import { createLogger } from '../createLogger.js'
import type { Flags } from '../onStore.js'
import { configOf, withOptions } from '../optionFlags.js'
import { signerOfFlag } from '../parseFlags.js'
import { printTable } from '../printTable.js'

/** `purser contracts deploy`: shows what it would do and cost, and does it with `--send`. */
export function defineContractsCommand(contracts: Command): void {
  const deploy = contracts
    .command('deploy')
    .description(
      'show which contracts are missing on a chain and what they cost; --send deploys them',
    )
    .requiredOption('--chain <id>', 'chain id')
    .option('--key <key>', 'who pays: env:NAME or file:PATH')
    .option('--send', 'deploy what is missing; without it nothing is changed')
  withOptions(deploy, ['data', 'chains']).action(
    async (flags: Flags & { readonly send?: true }) => {
      const { chain } = chainOf(configOf(flags), flags.chain ?? '')
      const payer = flags.key === undefined ? undefined : await signerOfFlag(flags.key)
      if (flags.send && payer === undefined) throw new ConfigError('--send needs --key: who pays.')
      const node = createNodeClient({ urls: chain.rpcUrls, logger: createLogger('error') })
      try {
        await requireChain(node, chain)
        const plan = await planContracts({ node, definition: chain })
        const coins = coinsOf(chain)
        show(plan, coins)
        if (payer === undefined) return
        const { address } = payer
        const balance = await getBalance(node, address)
        console.log(`payer ${address} has ${coins(balance)}`)
        if (balance < plan.cost)
          throw new ConfigError(
            `${address} has ${coins(balance)} and may need ${coins(plan.cost)}: fund it first.`,
          )
        if (!flags.send) return
        await deployContracts({ node, definition: chain }, plan, payer, (contract, hash) =>
          console.log(`deployed ${contract.name} at ${contract.address} by ${hash}`),
        )
      } finally {
        await node.close()
      }
    },
  )
}

function show({ contracts, cost }: ContractPlan, coins: Coins): void {
  printTable(
    contracts.map(({ name, address, missing }) => ({
      address,
      state: missing ? 'missing' : 'there',
      gas: missing?.gas ?? null,
      cost: missing ? formatEther(missing.cost) : null,
      contract: name,
    })),
  )
  console.log(`deploying what is missing costs at most ${coins(cost)} at current fees`)
}
