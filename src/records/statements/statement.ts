import { createPrivateKey, createPublicKey, hkdfSync, sign, verify } from 'node:crypto'
import { usdText } from '../../base/bigints.js'
import { csvOf } from './csvOf.js'

/** Operations of an app with the same chain, policy, token and approving webhooks. Amounts in wei. */
export type StatementLine = {
  readonly chainId: number
  /** The policy that sponsored; null = none did. */
  readonly policyId: string | null
  /** The token in which their senders paid a tank; null = they did not. */
  readonly token: string | null
  /** What they paid, in its smallest units. */
  readonly collected: bigint
  /** The webhooks that approved, in the order of their ids. */
  readonly webhookIds: readonly string[]
  readonly operations: bigint
  /** Of them, those whose call reverted. */
  readonly failed: bigint
  /** What was paid. */
  readonly cost: bigint
  /** What the chain charged on top of the cost, and was given back. */
  readonly rebate: bigint
  /** Millionths of a USD, at the price when each was signed. */
  readonly microUsd: bigint
  /** Operations without a recorded price, which `microUsd` leaves out. */
  readonly unpriced: bigint
}

/** An app, and the range of block times that a statement is about: from `from`, before `until`. */
export type StatementRange = { readonly appId: string; readonly from: Date; readonly until: Date }

const sums = ['operations', 'failed', 'cost', 'rebate', 'microUsd', 'unpriced'] as const

/** The sums of lines by chain, in the order of the chains' ids. */
export function totalsOf(
  lines: readonly StatementLine[],
): readonly (Pick<StatementLine, 'chainId'> & Amounts)[] {
  const chains = [...new Set(lines.map(({ chainId }) => chainId))].sort((a, b) => a - b)
  return chains.map((chainId) => {
    const own = lines.filter((line) => line.chainId === chainId)
    const sumOf = (name: (typeof sums)[number]) => own.reduce((sum, line) => sum + line[name], 0n)
    return { chainId, ...(Object.fromEntries(sums.map((n) => [n, sumOf(n)])) as Amounts) }
  })
}

type Amounts = Pick<StatementLine, (typeof sums)[number]>

function textsOf({ operations, failed, cost, rebate, microUsd, unpriced }: Amounts) {
  return {
    operations: String(operations),
    failed: String(failed),
    cost: String(cost),
    rebate: String(rebate),
    usd: usdText(microUsd),
    unpriced: String(unpriced),
  }
}

/** The text of a statement: the same range and lines, in the same order, always give the same bytes. */
export function contentOf(
  { appId, from, until }: StatementRange,
  lines: readonly StatementLine[],
): string {
  return JSON.stringify({
    format: 'purser statement 1',
    appId,
    from: from.toISOString(),
    until: until.toISOString(),
    lines: lines.map(({ chainId, policyId, token, collected, webhookIds, ...amounts }) => ({
      chainId,
      policyId,
      token,
      collected: String(collected),
      webhookIds,
      ...textsOf(amounts),
    })),
    totals: totalsOf(lines).map(({ chainId, ...amounts }) => ({ chainId, ...textsOf(amounts) })),
  })
}

type Content = {
  readonly lines: readonly (ReturnType<typeof textsOf> & {
    readonly chainId: number
    readonly policyId: string | null
    readonly token: string | null
    readonly collected: string
    readonly webhookIds: readonly string[]
  })[]
}

/** The lines of a statement's text as comma-separated values. */
export function statementCsv(content: string): string {
  const { lines } = JSON.parse(content) as Content
  return csvOf(
    lines.map(({ webhookIds, ...line }) => ({ ...line, webhookIds: webhookIds.join(' ') })),
  )
}

/** The DER of an Ed25519 private key (RFC 8410), up to the 32 bytes of its seed. */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** What signs with the key that the instance derives from its master key; the public key is DER (SPKI). */
export function createStatementSigner(masterKey: Buffer) {
  const seed = Buffer.from(hkdfSync('sha256', masterKey, '', 'purser statements', 32))
  const der = Buffer.concat([keyPrefix, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return (content: string) => ({ signature: sign(null, Buffer.from(content), key), publicKey })
}

/** Whether the content is signed with the key. */
export function isSigned(content: string, signature: Buffer, publicKey: Buffer): boolean {
  const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
  return verify(null, Buffer.from(content), key, signature)
}
