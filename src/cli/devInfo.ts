import type { Address } from 'viem'
import type { Version } from '../erc4337/entryPoint.js'
import type { DevToken } from './devnet/devTokens.js'

/** The id of the development chain. */
export const DEV_CHAIN_ID = 31_337
/** USD for one ether of the development chain, as its test tokens have it. */
export const DEV_NATIVE_USD = '3000'

/** The content of DIR/dev.json, which `purser dev` writes for scripts and tests when it is ready. */
export type DevInfo = {
  readonly url: string
  readonly chainId: number
  readonly rpcUrl: string
  readonly bundlerUrl: string
  readonly paymasterUrl: string
  readonly standardUrl: string
  readonly webhookApiUrl: string
  readonly authToken: string
  readonly apiKey: string
  readonly entryPoints: Partial<Record<Version, Address>>
  /** SimpleAccountFactory of each EntryPoint. */
  readonly factories: Partial<Record<Version, Address>>
  /** Simple7702Account of each EntryPoint that knows EIP-7702. */
  readonly delegates: Partial<Record<Version, Address>>
  /** Tokens of the development chain. */
  readonly tokens: readonly DevToken[]
  readonly tanks: Partial<Record<Version, Address>>
  /** Tanks that take tokens for gas. */
  readonly tokenTanks: Partial<Record<Version, Address>>
  readonly pid: number
}
