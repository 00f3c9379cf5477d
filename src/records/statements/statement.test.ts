import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentOf, createStatementSigner, isSigned, statementCsv, totalsOf } from './statement.js'

const range = { appId: 'a', from: new Date(0), until: new Date(86_400_000) }
const amount = fc.bigInt({ min: 0n, max: 10n ** 40n })
const line = fc.record({
  chainId: fc.integer({ min: 1, max: 4 }),
  policyId: fc.option(fc.uuid()),
  token: fc.option(fc.constant('0x70')),
  collected: amount,
  webhookIds: fc.array(fc.uuid(), { maxLength: 3 }),
  operations: amount,
  failed: amount,
  cost: amount,
  rebate: amount,
  microUsd: amount,
  unpriced: amount,
})

const micro = (usd: string): bigint => BigInt(usd.replace('.', ''))

describe('a statement', () => {
  test('has totals that are the sums of its lines, in the text too', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const { lines: written, totals } = JSON.parse(contentOf(range, lines))
        expect(totals).toHaveLength(new Set(lines.map(({ chainId }) => chainId)).size)
        for (const name of ['operations', 'failed', 'cost', 'rebate', 'unpriced'] as const)
          for (const total of totals) {
            const own = written.filter(({ chainId }: typeof total) => chainId === total.chainId)
            const sum = own.reduce(
              (all: bigint, each: typeof total) => all + BigInt(each[name]),
              0n,
            )
            expect(BigInt(total[name])).toBe(sum)
          }
        const usd = (list: readonly { usd: string }[]) =>
          list.reduce((all, each) => all + micro(each.usd), 0n)
        expect(usd(totals)).toBe(usd(written))
        expect(usd(written)).toBe(lines.reduce((all, { microUsd }) => all + microUsd, 0n))
        expect(totalsOf(lines).map(({ chainId }) => chainId)).toEqual(
          totals.map(({ chainId }: { chainId: number }) => chainId),
        )
      }),
    )
  })

  test('has one line of CSV for each of its lines, below their names', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
        const [head, ...rows] = statementCsv(contentOf(range, lines)).trimEnd().split('\r\n')
        expect(head).toBe(
          'chainId,policyId,token,collected,operations,failed,cost,rebate,usd,unpriced,webhookIds',
        )
        expect(rows.map((row) => row.split(',')[6])).toEqual(lines.map(({ cost }) => String(cost)))
      }),
    )
  })

  test('is signed with a key that follows from the master key, and a changed byte is noticed', () => {
    const masterKey = randomBytes(32)
    const content = contentOf(range, [])
    const { signature, publicKey } = createStatementSigner(masterKey)(content)
    expect(createStatementSigner(masterKey)(content)).toEqual({ signature, publicKey })
    expect(isSigned(content, signature, publicKey)).toBe(true)
    expect(isSigned(content.replace('"a"', '"b"'), signature, publicKey)).toBe(false)
    const other = createStatementSigner(randomBytes(32))(content)
    expect(isSigned(content, signature, other.publicKey)).toBe(false)
  })
})
