import {
  type Hex,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { AnvilClient } from '../../../src/devnet/anvilClient.js'
import { deployDevContracts } from '../../../src/devnet/deployDevContracts.js'
import { funderKey } from '../../../src/devnet/devKeys.js'
import type { HttpNode } from './httpNode.js'
import { type Strictness, startStrictNode } from './strictNode.js'

type Members = Record<string, unknown> | null

/** Arguments of an anvil whose base fee is 0. */
export const legacyArguments = ['--block-base-fee-per-gas', '0'] as const

/** Our contracts on it, which development sends as EIP-1559; their full blocks have raised the base fee. */
export async function prepareLegacy(tester: AnvilClient): Promise<void> {
  await deployDevContracts(tester.transport.url ?? '')
  await tester.setNextBlockBaseFeePerGas({ baseFeePerGas: 0n })
  await tester.mine({ blocks: 1 })
}

/**
 * In front of such an anvil: the node of a chain without EIP-1559. It takes transactions with one gas price only, of
 * `least` or more; its headers and receipts tell of no base fee and of no effective price. What
 * the funder sends is the tests' own.
 */
export function startLegacyNode(
  target: string,
  terms: { readonly suggested: bigint; readonly least: bigint },
): Promise<HttpNode> {
  const strictness: Strictness = {
    lacks: /^eth_(feeHistory|maxPriorityFeePerGas)$/,
    async rejects(method, params) {
      if (method === 'eth_sendRawTransaction') {
        const serialized = params[0] as TransactionSerialized
        const { type, gasPrice = 0n } = parseTransaction(serialized)
        const sender = await recoverTransactionAddress({ serializedTransaction: serialized })
        if (sender === privateKeyToAddress(funderKey)) return undefined
        if (type !== 'legacy') return 'transaction type not supported'
        return gasPrice < terms.least ? 'transaction underpriced' : undefined
      }
      const asksForFees = params.some((each) => each && Object.hasOwn(each, 'maxFeePerGas'))
      return asksForFees ? 'maxFeePerGas is not valid before London is active' : undefined
    },
    change(method, _, result) {
      if (method === 'eth_gasPrice') return numberToHex(terms.suggested)
      if (/^eth_getBlockBy/.test(method)) return without(result as Members, ['baseFeePerGas'])
      if (method === 'eth_getTransactionReceipt')
        return without(result as Members, ['effectiveGasPrice', 'type'])
      return result
    },
  }
  return startStrictNode(target, strictness)
}

function without(members: Members, names: readonly string[]): Members {
  return (
    members && Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
  )
}

/** The price of a signed transaction, in wei per gas, and its type. */
export function priceOfRaw(raw: Hex) {
  const { type, gasPrice = 0n } = parseTransaction(raw as TransactionSerialized)
  return { type, gasPrice }
}
