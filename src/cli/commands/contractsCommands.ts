import type { Command } from 'commander'
import { privateKeyToAddress } from 'viem/accounts'
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
import { keyOfFlag } from '../parseFlags.js'
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
      const key = flags.key === undefined ? undefined : keyOfFlag(flags.key)
      if (flags.send && key === undefined) throw new ConfigError('--send needs --key: who pays.')
      const node = createNodeClient({ urls: chain.rpcUrls, logger: createLogger('error') })
      try {
        await requireChain(node, chain)
        const plan = await planContracts({ node, definition: chain })
        const coins = coinsOf(chain)
        show(plan, coins)
        if (key === undefined) return
        const payer = privateKeyToAddress(key).toLowerCase() as `0x${string}`
        const balance = await getBalance(node, payer)
        console.log(`payer ${payer} has ${coins(balance)}`)
        if (balance < plan.cost)
          throw new ConfigError(
            `${payer} has ${coins(balance)} and may need ${coins(plan.cost)}: fund it first.`,
          )
        if (!flags.send) return
        await deployContracts({ node, definition: chain }, plan, key, ({ name, address }, hash) =>
          console.log(`deployed ${name} at ${address} by ${hash}`),
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
