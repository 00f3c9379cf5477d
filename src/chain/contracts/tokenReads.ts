import type { Address, Hex } from 'viem'
import { decodeParameters } from '../../erc4337/encoding/decodeParameters.js'
import { addressWord, uintWord } from '../../erc4337/encoding/abiWriter.js'
import { ethCall } from '../ethCall.js'
import type { BlockId } from '../head.js'
import type { NodeClient } from '../nodeClient.js'

/** How a token calls itself; undefined where it does not answer. */
export type TokenFacts = {
  readonly name: string | undefined
  readonly symbol: string | undefined
  readonly decimals: number | undefined
}

const selectors = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  balanceOf: '0x70a08231',
  balanceOfId: '0x00fdd58e',
} as const

/** Gas of one read: many times what an honest token takes. */
const READ_GAS = 200_000n
const LONGEST_NAME = 64

/** Name, symbol and decimals of any contract that may be a token. */
export async function readTokenFacts(
  node: NodeClient,
  token: Address,
  block: BlockId,
): Promise<TokenFacts> {
  const [name, symbol, decimals] = await Promise.all(
    [selectors.name, selectors.symbol, selectors.decimals].map((data) =>
      read(node, token, data, block),
    ),
  )
  const places = wordIn(decimals)
  return {
    name: textIn(name),
    symbol: textIn(symbol),
    decimals: places !== undefined && places <= 255n ? Number(places) : undefined,
  }
}

/** The units that `holder` has of an ERC-20 token, or of one id of an ERC-1155 contract; undefined where it does not answer. */
export async function readTokenBalance(
  node: NodeClient,
  { token, tokenId }: { readonly token: Address; readonly tokenId: bigint | undefined },
  holder: Address,
  block: BlockId,
): Promise<bigint | undefined> {
  const data: Hex =
    tokenId === undefined
      ? `${selectors.balanceOf}${addressWord(holder)}`
      : `${selectors.balanceOfId}${addressWord(holder)}${uintWord(tokenId, 'tokenId')}`
  return wordIn(await read(node, token, data, block))
}

async function read(node: NodeClient, to: Address, data: Hex, block: BlockId): Promise<Hex> {
  const outcome = await ethCall(node, { to, data, gas: READ_GAS }, block)
  return outcome.ok ? outcome.data : '0x'
}

function wordIn(data: Hex | undefined): bigint | undefined {
  return data?.length === 66 ? BigInt(data) : undefined
}

/** A string, or the 32 bytes that old tokens have in its place. */
function textIn(data: Hex = '0x'): string | undefined {
  const [text] = decodeParameters([{ type: 'string' }], data) ?? []
  const whole =
    text ?? (data.length === 66 ? Buffer.from(data.slice(2), 'hex').toString('utf8') : '')
  const shown = whole.replaceAll(/\p{Cc}/gu, '').slice(0, LONGEST_NAME)
  return shown === '' ? undefined : shown
}
