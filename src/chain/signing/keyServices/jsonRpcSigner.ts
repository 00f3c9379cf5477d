import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { z } from 'zod'
import { SignerUnavailableError } from '../../../base/errors/processErrors.js'
import type { ExecutorTransaction } from '../executorTransaction.js'
import { createAsk, type RemoteKey, requireReadable } from './remoteKey.js'

export type JsonRpcKey = {
  readonly kind: 'jsonRpc'
  readonly url: string
  readonly address: Address
  /** The header Authorization. */
  readonly authorization: string | undefined
  /** Whether it knows transactions with authorizations. */
  readonly eip7702: boolean
}

const raw = z.string().regex(/^0x([0-9a-f]{2})+$/i)
const answered = z.object({
  result: z.union([raw, z.object({ raw }).transform((signed) => signed.raw)]).optional(),
  error: z.object({ message: z.string() }).optional(),
})

/**
 * A key of any signer that serves eth_signTransaction (clef, web3signer, Besu, a node). Only the signature is taken
 * of what it returns, and only where every field is the one that was asked for.
 */
export function createJsonRpcKey({ url, address, authorization }: JsonRpcKey): RemoteKey {
  const ask = createAsk(address, [url])
  const headers = {
    'content-type': 'application/json',
    ...(authorization !== undefined && { authorization }),
  }
  const refuse = (reason: string): never => {
    throw new SignerUnavailableError(address, `eth_signTransaction: ${reason}`)
  }
  return {
    findAddress: undefined,
    async sign(_digest, transaction) {
      const params = [{ from: address, ...toRpc(transaction) }]
      const call = { jsonrpc: '2.0', id: 1, method: 'eth_signTransaction', params }
      const body = JSON.stringify(call)
      const { result, error } = await ask('eth_signTransaction', { url, headers, body }, answered)
      if (result === undefined) return refuse(error?.message.slice(0, 120) ?? 'no result')
      const signed = requireReadable(address, () => read(result as Hex))
      const changed = changedField(transaction, signed)
      if (changed !== undefined) return refuse(`it signed another ${changed}`)
      const { r, s } = signed
      if (r === undefined || s === undefined) return refuse('its transaction is not signed')
      return requireReadable(address, () => ({ r: BigInt(r), s: BigInt(s) }))
    },
  }
}

function read(serialized: Hex) {
  try {
    return parseTransaction(serialized)
  } catch (cause) {
    throw new Error('eth_signTransaction: the result is no transaction', { cause })
  }
}

function hex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** The fields as JSON-RPC has them. */
function toRpc(transaction: ExecutorTransaction) {
  const { to, data, chainId, nonce, value = 0n, gas, authorizationList = [] } = transaction
  return {
    to,
    data,
    chainId: hex(chainId),
    nonce: hex(nonce),
    value: hex(value),
    gas: hex(gas),
    maxFeePerGas: hex(transaction.maxFeePerGas),
    maxPriorityFeePerGas: hex(transaction.maxPriorityFeePerGas),
    ...(authorizationList.length > 0 && { authorizationList: authorizationList.map(toTuple) }),
  }
}

function toTuple(
  tuple: NonNullable<ExecutorTransaction['authorizationList']>[number],
): Readonly<Record<string, Hex>> {
  const { chainId, address, nonce, r, s, yParity } = tuple
  const numbers = { chainId: hex(chainId), nonce: hex(nonce), yParity: hex(yParity ?? 0) }
  return { ...numbers, address: address.toLowerCase() as Hex, r: hex(BigInt(r)), s: hex(BigInt(s)) }
}

/** The first field in which a signed transaction differs from the one that was asked for. */
function changedField(
  asked: ExecutorTransaction,
  signed: ReturnType<typeof parseTransaction>,
): string | undefined {
  const isDelegating = asked.authorizationList !== undefined && asked.authorizationList.length > 0
  const { type, accessList = [] } = signed
  if (type !== (isDelegating ? 'eip7702' : 'eip1559')) return 'type'
  if (accessList.length > 0) return 'accessList'
  const { chainId = 0, nonce = 0, to, data = '0x', value = 0n, gas = 0n } = signed
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = signed
  const authorizationList = type === 'eip7702' ? signed.authorizationList : []
  const fees = { maxFeePerGas, maxPriorityFeePerGas }
  const wanted = toRpc(asked)
  const found = toRpc({
    chainId,
    nonce,
    to: to ?? '0x',
    data,
    value,
    gas,
    ...fees,
    authorizationList,
  })
  const names = Object.keys(wanted) as (keyof typeof wanted)[]
  return names.find(
    (name) =>
      JSON.stringify(wanted[name])?.toLowerCase() !== JSON.stringify(found[name])?.toLowerCase(),
  )
}
