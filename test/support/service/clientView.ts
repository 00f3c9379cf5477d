import type { Address } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import type { PublicChain } from '../chain/publicChain.js'
import type { ClientView } from './devAccount.js'

type Chain = Pick<PublicChain, 'chainId' | 'rpcUrl' | 'entryPoints' | 'factories'>

/** The chain as a client with this key sees it that has one URL, of the service at `url`. */
export function clientView(chain: Chain, url: string, apiKey: string, version = 'v2'): ClientView {
  const own = `${url}/api/${version}/${chain.chainId}/${apiKey}`
  return { ...chain, bundlerUrl: own, paymasterUrl: own }
}

/** Chain and tenant as `purser dev` would tell of them: the tank of v0.6 where there is one, no tokens. */
export function tenantInfo(
  { chainId, rpcUrl, entryPoints, factories }: Chain,
  url: string,
  { apiKey, authToken }: Pick<DevInfo, 'apiKey' | 'authToken'>,
  tank?: Address,
): DevInfo {
  const path = (version: string) => `${url}/api/${version}/${chainId}/${apiKey}`
  return {
    url,
    chainId,
    rpcUrl,
    pid: process.pid,
    webhookApiUrl: url,
    bundlerUrl: path('v2'),
    paymasterUrl: path('v2'),
    standardUrl: path('v3'),
    authToken,
    apiKey,
    entryPoints,
    factories,
    tanks: tank === undefined ? {} : { '0.6': tank },
    tokenTanks: {},
    tokens: [],
    delegates: {},
  }
}
