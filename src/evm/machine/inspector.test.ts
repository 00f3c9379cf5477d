import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  CONTRACT,
  hex,
  OTHER,
  pushAddress,
  runCode,
  word,
} from '../../../test/evm/harness.js'
import { fromHex, toHex } from '../bytes/hex.js'
import type { InspectedCall, InspectedEnd, Inspector } from './inspector.js'

const THIRD = addressOf(0xc0003n)
/** Calls `to` with four bytes of data, then returns success and 32 bytes of its output. */
function caller(to: `0x${string}`) {
  return hex('63aabbccdd5f52', '60205f6004601c5f', pushAddress(to), '5af1', '602052', '60405ff3')
}
/** Returns the word 5, or reverts with it. */
function five(end: 'f3' | 'fd') {
  return hex('60055f5260205f', end)
}

type Seen = ['enter', InspectedCall] | ['leave', InspectedCall, InspectedEnd]

function spy(changes: Partial<Inspector> = {}): Inspector & { seen: Seen[] } {
  const seen: Seen[] = []
  const copy = (call: InspectedCall) => ({ ...call, input: call.input.slice() })
  return {
    seen,
    enter(call) {
      seen.push(['enter', copy(call)])
      return changes.enter?.(call)
    },
    leave(call, end) {
      seen.push(['leave', copy(call), { ...end, output: end.output.slice() }])
      return changes.leave?.(call, end)
    },
  }
}

describe('inspector', () => {
  it('sees calls below the outermost message in order, with input, output and gas', () => {
    const inspector = spy()
    const middle = hex('5f5f5f5f5f', pushAddress(THIRD), '5af1', five('f3').slice(2))
    const result = runCode(
      caller(OTHER),
      { [OTHER]: { code: middle }, [THIRD]: { code: five('fd') } },
      { inspector },
    )
    const outer = { depth: 1, from: CONTRACT, to: OTHER, input: fromHex('0xaabbccdd') }
    const inner = { depth: 2, from: OTHER, to: THIRD, input: new Uint8Array(0) }
    const [frame] = result.record.root.calls
    expect(inspector.seen).toEqual([
      ['enter', outer],
      ['enter', inner],
      ['leave', inner, { success: false, output: fromHex(word(5)), gasUsed: 16, gasNeeded: 16 }],
      [
        'leave',
        outer,
        {
          success: true,
          output: fromHex(word(5)),
          gasUsed: frame!.gasUsed,
          gasNeeded: frame!.gasUsed,
        },
      ],
    ])
  })

  it('changes nothing when it only looks', () => {
    const others = { [OTHER]: { code: five('f3') } }
    expect(runCode(caller(OTHER), others, { inspector: spy() })).toEqual(
      runCode(caller(OTHER), others),
    )
  })

  it('may stand in for a call, which then does not run and costs no gas', () => {
    const answer = { success: true, output: fromHex(word(9)) }
    const inspector = spy({ enter: () => answer })
    const run = (code: `0x${string}`) =>
      runCode(caller(OTHER), { [OTHER]: { code } }, { inspector })
    const result = run(five('fd'))
    expect(toHex(result.output)).toBe(hex(word(9), word(1)))
    expect(result.executionGas).toBe(run(hex('5a'.repeat(1000))).executionGas)
    expect(result.record.root.calls[0]!.calls).toEqual([])
  })

  it('may stand in with a failure', () => {
    const inspector = spy({ enter: () => ({ success: false, output: fromHex(word(9)) }) })
    const result = runCode(caller(OTHER), { [OTHER]: { code: five('f3') } }, { inspector })
    expect(toHex(result.output)).toBe(hex(word(9), word(0)))
  })

  it('may change what the caller sees, at the same gas, while the record keeps the truth', () => {
    const others = { [OTHER]: { code: five('f3') } }
    const inspector = spy({ leave: () => fromHex(word(6)) })
    const result = runCode(caller(OTHER), others, { inspector })
    expect(toHex(result.output)).toBe(hex(word(6), word(1)))
    expect(result.gasUsed).toBe(runCode(caller(OTHER), others).gasUsed)
    expect(result.record.root.calls[0]!.output).toEqual(fromHex(word(5)))
  })

  it('sees precompiles, accounts without code and calls that are refused', () => {
    const call = (to: `0x${string}`, value: string) =>
      hex('5f5f5f5f', value, pushAddress(to), '5af150')
    const code = hex(call(addressOf(4), '5f'), call(THIRD, '5f'), call(OTHER, '6001'))
    const inspector = spy()
    runCode(
      code,
      { [CONTRACT]: { code, balance: 0n }, [OTHER]: { code: five('f3') } },
      { inspector },
    )
    const ends = inspector.seen.flatMap((event) => (event[0] === 'leave' ? [event[2]] : []))
    expect(inspector.seen).toHaveLength(6)
    expect(ends.map(({ success, gasUsed }) => [success, gasUsed])).toEqual([
      [true, 15],
      [true, 0],
      [false, 0],
    ])
  })
})

/** What a contract does before and after it calls the next one. */
type Level = {
  readonly burnsBefore: number
  readonly burnsAfter: number
  readonly stores: boolean
  readonly sendsValue: boolean
  readonly passesAll: boolean
  readonly reverts: boolean
}

const anyLevel: fc.Arbitrary<Level> = fc.record({
  burnsBefore: fc.nat(3_000),
  burnsAfter: fc.nat(3_000),
  stores: fc.boolean(),
  sendsValue: fc.boolean(),
  passesAll: fc.boolean(),
  reverts: fc.boolean(),
})

function codeOf(level: Level, next: `0x${string}` | undefined): `0x${string}` {
  const { burnsBefore, burnsAfter, stores, sendsValue, passesAll, reverts } = level
  const gas = passesAll ? '5a' : '6207a120'
  const value = sendsValue ? '6001' : '5f'
  const call =
    next === undefined ? '' : hex('5f5f5f5f', value, pushAddress(next), gas, 'f150').slice(2)
  const end = reverts ? '5f5ffd' : '00'
  return hex('5b'.repeat(burnsBefore), stores ? '60015f55' : '', call, '5b'.repeat(burnsAfter), end)
}

describe('the gas that a call needed', () => {
  /** The ends of all calls, where the first one has `limit`. */
  const endsWith = (levels: readonly Level[], limit: number): InspectedEnd[] => {
    const addresses = levels.map((_, at) => addressOf(0xd0001n + BigInt(at)))
    const others = Object.fromEntries(
      levels.map((level, at) => [
        addresses[at],
        { code: codeOf(level, addresses[at + 1]), balance: 10n },
      ]),
    )
    const inspector = spy()
    const push = `63${limit.toString(16).padStart(8, '0')}`
    const code = hex('5f5f5f5f5f', pushAddress(addresses[0]!), push, 'f100')
    runCode(code, others, { inspector })
    return inspector.seen.flatMap((event) => (event[0] === 'leave' ? [event[2]] : []))
  }
  const seen = (ends: readonly InspectedEnd[]) =>
    ends.map(({ success, gasUsed }) => [success, gasUsed])

  it('suffices, and one gas less changes the run', () =>
    fc.assert(
      fc.property(fc.array(anyLevel, { minLength: 1, maxLength: 5 }), (levels) => {
        const ample = endsWith(levels, 900_000)
        const { gasNeeded } = ample.at(-1)!
        expect(seen(endsWith(levels, gasNeeded))).toEqual(seen(ample))
        expect(seen(endsWith(levels, gasNeeded - 1))).not.toEqual(seen(ample))
      }),
      { numRuns: 300 },
    ))
})
