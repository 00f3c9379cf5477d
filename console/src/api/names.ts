import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { shortOf, tidyOf } from '../parts/format.js'
import { accountId } from './call.js'
import { useQuery } from './query.js'
import { isReader } from './share.js'
import type { App, Chain, Page, Tank } from './shapes.js'

const chains = signal<ReadonlyMap<number, Chain>>(new Map())
const apps = signal<ReadonlyMap<string, App>>(new Map())
const tanks = signal<ReadonlyMap<string, Tank>>(new Map())

/** Keeps the names of chains, apps and tanks, which every screen shows in place of ids. */
export function useNames(): void {
  const isOfAccount = accountId.value !== undefined
  const chainList = useQuery<Page<Chain>>('/chains').data
  const appList = useQuery<Page<App>>(isReader ? undefined : '/apps').data
  const tankList = useQuery<Page<Tank>>(isOfAccount ? '/tanks' : undefined).data
  useEffect(() => {
    chains.value = new Map(chainList?.items.map((each) => [each.chainId, each]))
    apps.value = new Map(appList?.items.map((each) => [each.id, each]))
    tanks.value = new Map(tankList?.items.map((each) => [`${each.chainId} ${each.address}`, each]))
  }, [chainList, appList, tankList])
}

/** The name of a chain; its number where it is not served. */
export function chainName(chainId: number): string {
  return chains.value.get(chainId)?.name ?? `chain ${chainId}`
}

export function appName(id: string): string {
  return apps.value.get(id)?.name ?? id.slice(0, 8)
}

/** The name of an app or a tank by its id or address; undefined = it is neither. */
export function nameOf(id: string): string | undefined {
  const tank = [...tanks.value.values()].find((each) => each.id === id || each.address === id)
  return tank === undefined
    ? apps.value.get(id)?.name
    : `${appName(tank.appId)}'s ${tank.kind} tank`
}

/** The name of the contract that paid for an operation. */
export function payerName(chainId: number, paymaster: string): string {
  const tank = tanks.value.get(`${chainId} ${paymaster.toLowerCase()}`)
  return tank === undefined ? shortOf(paymaster) : `${appName(tank.appId)}'s ${tank.kind} tank`
}

/** The payer of an operation without a paymaster: nobody but the operator includes one without fees (mode `native`). */
export function payerWithoutPaymaster(maxCost: string): string {
  return maxCost === '0' ? 'operator' : 'sender'
}

/** The sign of the chain's coin: Ξ for ether. */
export function coinOf(chainId: number): string {
  const symbol = chains.value.get(chainId)?.coin.symbol ?? 'ETH'
  return symbol === 'ETH' ? 'Ξ' : symbol
}

/** The name of the chain's coin for a label. */
export function coinWord(chainId: number): string {
  const coin = coinOf(chainId)
  return coin === 'Ξ' ? 'ether' : coin
}

/** USD that wei of a chain are worth at the configured price; undefined = there is none. */
export function usdOf(wei: bigint, chainId: number): number | undefined {
  const usd = chains.value.get(chainId)?.coin.usd ?? undefined
  return usd === undefined ? undefined : (Number(wei) / 1e18) * Number(usd)
}

/** Where the explorer of a chain shows something; undefined = no explorer is known. */
export function explorerUrl(
  chainId: number,
  kind: 'tx' | 'address',
  what: string,
): string | undefined {
  const base = chains.value.get(chainId)?.explorerUrl ?? undefined
  return base === undefined ? undefined : `${base.replace(/\/$/, '')}/${kind}/${what}`
}

type Cost = { readonly chainId: number; readonly wei: string }

/** USD of all costs together; undefined where the coin of one has no price. */
export function usdOfAll(costs: readonly Cost[]): number | undefined {
  return costs.reduce<number | undefined>((sum, { chainId, wei }) => {
    const usd = usdOf(BigInt(wei), chainId)
    return sum === undefined || usd === undefined ? undefined : sum + usd
  }, 0)
}

/** Costs with the sign of their coin, and with USD where it has a price. */
export function pricedOf(costs: readonly Cost[]) {
  return costs.map(({ chainId, wei }) => ({
    coin: coinOf(chainId),
    wei,
    usd: usdOf(BigInt(wei), chainId),
  }))
}

/** All costs together, by coin: `0.0062 Ξ`, or `0.0062 Ξ, 1.2 POL`. */
export function coinsOfAll(costs: readonly Cost[]): string {
  const sums = new Map<string, bigint>()
  for (const { chainId, wei } of costs) {
    const coin = coinOf(chainId)
    sums.set(coin, (sums.get(coin) ?? 0n) + BigInt(wei))
  }
  return [...sums].map(([coin, wei]) => `${tidyOf(String(wei))} ${coin}`).join(', ')
}
