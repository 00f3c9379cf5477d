import type { Address, Hex } from 'viem'
import { type CheckoutName, readCheckout } from './checkouts.js'
import { deterministicDeployer, safeSingletonFactory } from './publishedContract.js'

const deployers = [deterministicDeployer, safeSingletonFactory]

type Recorded = {
  readonly contractAddress: Address
  readonly additionalContracts: readonly { readonly address: Address }[]
  readonly transaction: {
    readonly from: Address
    readonly to: Address
    readonly value: Hex
  } & ({ readonly data: Hex } | { readonly input: Hex })
}

/** A recorded run of a foundry script on a public chain: what it created by known deployers, and what it called besides. */
export function readBroadcast(checkout: CheckoutName, path: string) {
  const run = JSON.parse(readCheckout(checkout, path)) as { transactions: readonly Recorded[] }
  const sent = run.transactions.map(({ transaction, additionalContracts, contractAddress }) => {
    const { from, to } = transaction
    return {
      // A script that calls the deployer itself has what it created next to the called contract.
      address: additionalContracts[0]?.address ?? contractAddress,
      deployer: deployers.find(({ address }) => address.toLowerCase() === to.toLowerCase()),
      // Versions of foundry differ in the name.
      data: 'data' in transaction ? transaction.data : transaction.input,
      from,
      to,
      value: BigInt(transaction.value),
    }
  })
  return {
    creations: sent.flatMap(({ address, deployer, data }) =>
      deployer === undefined ? [] : [{ address, origin: { deployer, data } }],
    ),
    calls: sent.flatMap(({ deployer, from, to, data, value }) =>
      deployer === undefined ? [{ from, to, data, value }] : [],
    ),
  }
}
