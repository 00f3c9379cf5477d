import { type Hex, toHex } from 'viem'
import { expect, test } from 'vitest'
import { rpc } from '../support/http/jsonRpc.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { peakMemory } from '../support/service/processUse.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker asks for an estimate, or sends an operation, whose account calls nobody again and again
 * with a megabyte of its memory. That costs 120 gas a call; a copy of each input would take a terabyte.
 * Before: one request took all memory of the machine. His relatives record much without large inputs: frames,
 * hashed inputs, slots of transient storage, looks at code.
 */

const purser = useRunningPurser()

/** MB: several times what the first operations of a service take. */
const BOUND = 400

/**
 * Code that answers validation (32 zero bytes) when its call data are longer than a word, and runs `body`
 * for ever in a call of one byte; `always`: in validation too.
 */
function looping(body: Hex, always = false): Hex {
  const start = always ? '0x' : '0x3660211060' // CALLDATASIZE PUSH1 33 LT PUSH1 …
  const loop = body.slice(2)
  if (always) return `0x5b${loop}5f56` as Hex
  const end = (7 + loop.length / 2 + 4).toString(16).padStart(2, '0')
  return `${start}${end}575b${loop}6006565b5f5f5260205ff3` as Hex
}

/** Steps that leave the stack as it was. */
const bodies: readonly (readonly [string, Hex])[] = [
  [
    'calls with a megabyte',
    '0x5f5f620100005f5f60ff5af150'
      .replace('62010000', '62100000')
      .replace('5f5f62', '5f5f62') as Hex,
  ],
  ['calls with nothing', '0x5f5f5f5f5f60ff5af150'],
  ['hashes of a kilobyte', '0x6104005f2050'],
  ['transient slots', '0x5a5c50'],
  ['looks at code', '0x60ff3b50'],
]

test.each(bodies)('%s do not fill the memory in an estimate', async (name, body) => {
  const { info } = purser()
  const { operation } = await hostileAccount(info, `estimate ${name}`, looping(body), '0x01')
  const held = peakMemory(info.pid)
  const { body: answer } = await rpc(info.standardUrl, 'eth_estimateUserOperationGas', [
    operation,
    info.entryPoints['0.7'],
  ])
  expect(answer.error?.code).toBeLessThan(-32_000)
  expect(answer.error?.code).not.toBe(-32_603)
  const grown = peakMemory(info.pid) - held
  expect(grown).toBeLessThan(BOUND)
})

test.each(bodies)('%s do not fill the memory in a validation', async (name, body) => {
  const { info } = purser()
  const { operation } = await hostileAccount(info, `validate ${name}`, looping(body, true), '0x01')
  const held = peakMemory(info.pid)
  const { body: answer } = await rpc(info.standardUrl, 'eth_sendUserOperation', [
    { ...operation, verificationGasLimit: toHex(5_000_000) },
    info.entryPoints['0.7'],
  ])
  expect(answer.error?.code).toBeLessThan(-32_000)
  expect(answer.error?.code).not.toBe(-32_603)
  const grown = peakMemory(info.pid) - held
  expect(grown).toBeLessThan(BOUND)
})
