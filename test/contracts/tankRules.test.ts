import { numberToHex } from 'viem'
import { afterAll, describe, expect, test } from 'vitest'
import { encodeValidation } from '../support/tanks/tankCalls.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/** Opcodes that validation may not use (ERC-7562 OP-011, OP-020, OP-031, OP-080). */
const BANNED = [
  'ORIGIN',
  'GASPRICE',
  'BLOCKHASH',
  'COINBASE',
  'TIMESTAMP',
  'NUMBER',
  'DIFFICULTY',
  'PREVRANDAO',
  'GASLIMIT',
  'BASEFEE',
  'BLOBHASH',
  'BLOBBASEFEE',
  'CREATE',
  'CREATE2',
  'INVALID',
  'SELFDESTRUCT',
  'BALANCE',
  'SELFBALANCE',
]

/** An unstaked paymaster may not touch its own storage (STO-031), so it touches none. */
const STORAGE = ['SLOAD', 'SSTORE', 'TLOAD', 'TSTORE']

const CALLS = ['CALL', 'DELEGATECALL', 'STATICCALL', 'CALLCODE']

const tracer = `{
  names: [],
  step: function (log) { this.names.push(log.op.toString()) },
  fault: function () {},
  result: function () { return this.names }
}`

describe.each(VERSIONS)('validation by a tank on EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)

  afterAll(() => chain().anvil.stop())

  test('keeps the rules for an unstaked paymaster (ERC-7562)', async () => {
    const tank = await chain().createTank(0)
    const op = await chain().sponsor(await chain().accountDraft('ruled'), tank)
    const call = {
      from: chain().entryPoint.address,
      to: tank,
      gas: numberToHex(1_000_000),
      data: encodeValidation(chain(), op),
    }
    const params = [call, 'latest', { tracer }]
    const names = (await chain().wallet.request({
      method: 'debug_traceCall',
      params,
    } as never)) as string[]

    expect(names).toContain('EXTCODECOPY')
    expect(names.filter((name) => name === 'STATICCALL')).toHaveLength(1)
    expect(names.filter((name) => BANNED.includes(name))).toEqual([])
    expect(names.filter((name) => STORAGE.includes(name))).toEqual([])
    const afterGas = names.filter((_, index) => names[index - 1] === 'GAS')
    expect(afterGas.filter((name) => !CALLS.includes(name))).toEqual([])
  })
})
