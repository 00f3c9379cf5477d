import { concatHex, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { result, rpc } from '../support/http/jsonRpc.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker asks for estimates of operations that take as many steps as a transaction can pay for. Each is
 * run again and again to find its limits. Before: ten of them, and nobody was answered for 20 s.
 */

const purser = useRunningPurser()

const ESTIMATES = 10
/** Milliseconds; a light request waits for one run at most, which took 1.5 s on a machine with ten times its work. */
const LONGEST_WAIT = 16_000

/** Code that accepts every signature; its call runs 700 times over 20,000 JUMPDESTs, of one gas each. */
const dear: Hex = concatHex([
  '0x36602110614e3557', // to the end if there are more than 33 bytes of call data
  '0x6102bc5b', // PUSH2 700 JUMPDEST
  `0x${'5b'.repeat(20_000)}`,
  '0x6001900380600b5700', // count down and go back, or STOP
  '0x5b5f5f5260205ff3', // 32 zero bytes
])

test('dear estimates leave the thread to others', async () => {
  const { info } = purser()
  const { operation } = await hostileAccount(info, 'dear', dear, '0x01')
  const entryPoint = info.entryPoints['0.7']
  let underWay = true
  const waits: number[] = []
  const askOften = async () => {
    while (underWay) {
      const begin = performance.now()
      expect(await result(info.standardUrl, 'eth_chainId', [])).toBeDefined()
      waits.push(performance.now() - begin)
    }
  }
  const asking = askOften()
  const answers = await Promise.all(
    Array.from({ length: ESTIMATES }, () =>
      rpc(info.standardUrl, 'eth_estimateUserOperationGas', [operation, entryPoint]),
    ),
  )
  underWay = false
  for (const { body } of answers) expect([undefined, -32_500]).toContain(body.error?.code)
  await asking
  expect(Math.max(...waits)).toBeLessThan(LONGEST_WAIT)
  expect(waits.length).toBeGreaterThan(10 * ESTIMATES)
})
