import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { Address, Hex } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/devnet/devKeys.js'
import type { DevToken } from '../../../src/devnet/devTokens.js'
import { result } from '../http/jsonRpc.js'
import { tenantInfo } from '../service/clientView.js'

export type InclusionTold = {
  readonly userOpHash: Hex
  readonly transactionHash: Hex
  readonly actualGasCost: string
}

/** A service with tenants, money and operations as a build of an earlier commit left it, beside database and chain. */
export type Estate = {
  readonly commit: string
  /** The last migration of that build. */
  readonly schema: string
  readonly chainId: number
  readonly entryPoints: { readonly '0.6': Address }
  readonly factories: { readonly '0.6': Address }
  readonly appId: string
  readonly apiKey: string
  readonly authToken: string
  readonly policyId: string
  readonly webhook: { readonly webhookId: string; readonly secret: string }
  readonly tank: Address
  /** wei in the tank before any operation. */
  readonly deposit: string
  /** What some operations paid in; 0166 was left without it. */
  readonly token?: EstateToken
  /** Operations in blocks, with what clients were told of them. */
  readonly included: readonly InclusionTold[]
  /** Acknowledged operations in signed transactions that no block has. */
  readonly bundled: readonly Hex[]
  /** Acknowledged operations that wait for a bundle. */
  readonly pooled: readonly Hex[]
}

/** A token of the chain, and the tank that takes it. */
export type EstateToken = Pick<DevToken, 'address' | 'symbol' | 'decimals'> & {
  readonly tank: Address
  /** The hashes of the operations that paid in it, all in blocks. */
  readonly payments: readonly Hex[]
}

/** What an estate's chain has in the configuration so that its token is taken. */
export function tokenSettings({
  address,
  symbol,
  decimals,
}: Pick<DevToken, 'address' | 'symbol' | 'decimals'>) {
  const terms = { sources: [{ fixed: '3000' }], markup: 1_050_000 }
  // The token tank has no stake.
  return {
    minimumStake: '0',
    minimumUnstakeDelay: 0,
    tokens: [{ address, symbol, decimals, ...terms }],
  }
}

/** The secrets of every estate. */
export const estateSecrets = {
  PURSER_MASTER_KEY: '5e'.repeat(32),
  EXECUTOR: devKey(1),
  OWNER_KEY: devKey(3),
}

/** Chain and tenant as a client of the service at `url` sees them. */
export function estateInfo(
  estate: Pick<Estate, 'chainId' | 'entryPoints' | 'factories' | 'apiKey' | 'authToken' | 'tank'>,
  rpcUrl: string,
  url: string,
): DevInfo {
  return tenantInfo({ ...estate, rpcUrl }, url, estate, estate.tank)
}

/** What a client reads of an inclusion, which no later version may tell otherwise. */
export async function inclusionOf({ bundlerUrl }: DevInfo, hash: Hex): Promise<InclusionTold> {
  const answer = await result(bundlerUrl, 'eth_getUserOperationReceipt', [hash])
  const { userOpHash, actualGasCost, receipt } = answer
  return {
    userOpHash,
    transactionHash: receipt.transactionHash,
    actualGasCost: String(actualGasCost),
  }
}

const ESTATES = fileURLToPath(new URL('../../upgrade/estates', import.meta.url))

export function estateFolder(name: string): string {
  return join(ESTATES, name)
}

/** Reads an estate with its database as SQL and its chain as anvil keeps it. */
export function readEstate(name: string) {
  const read = (file: string) => readFileSync(join(estateFolder(name), file))
  return {
    estate: JSON.parse(read('estate.json').toString()) as Estate,
    database: gunzipSync(read('database.sql.gz')).toString(),
    chain: gunzipSync(read('chain.json.gz')).toString(),
  }
}
