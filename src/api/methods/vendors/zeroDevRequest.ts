import type { Address } from 'viem'
import { decodeAddress } from '../../dialects/decode/bytes.js'
import { requireChainId } from '../../dialects/decode/chainId.js'
import { type DecodeContext, decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeObject, type Members, member } from '../../dialects/decode/members.js'
import { decodePartialOperation } from '../../dialects/decode/operation.js'

/**
 * The one object with which ZeroDev's clients ask: `{chainId, userOp, entryPointAddress, …}`. They write
 * an authorization (EIP-7702) as viem holds it.
 */
export function decodeZeroDevRequest([request]: readonly unknown[], chain: DecodeContext) {
  const fields = decodeObject(request, 'params[0]')
  requireChainId(member(fields, 'chainId'), 'params[0].chainId', chain)
  const entryPoint = decodeEntryPoint(
    member(fields, 'entryPointAddress'),
    'params[0].entryPointAddress',
    chain,
  )
  const userOp = decodeObject(member(fields, 'userOp'), 'params[0].userOp')
  const eip7702Auth = member(userOp, 'eip7702Auth') ?? member(userOp, 'authorization')
  const draft = decodePartialOperation(
    { ...userOp, eip7702Auth },
    'params[0].userOp',
    entryPoint.version,
  )
  return { fields, entryPoint, draft }
}

/** The token that a member of the request names; undefined = none. */
export function decodeZeroDevToken(fields: Members, field: string): Address | undefined {
  const token = member(fields, 'tokenAddress')
  return token === undefined ? undefined : decodeAddress(token, `${field}.tokenAddress`)
}
