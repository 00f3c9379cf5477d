import { expect, test } from 'vitest'
import { result, rpc } from '../support/http/jsonRpc.js'
import { dearCode } from '../support/service/dearCode.js'
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

test('dear estimates leave the thread to others', async () => {
  const { info } = purser()
  const { operation } = await hostileAccount(info, 'dear', dearCode(700), '0x01')
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
  for (const { body } of answers) expect([undefined, -32_500, -32_005]).toContain(body.error?.code)
  expect(answers.filter(({ body }) => body.error?.code === -32_005)).toHaveLength(ESTIMATES - 8)
  await asking
  expect(Math.max(...waits)).toBeLessThan(LONGEST_WAIT)
  expect(waits.length).toBeGreaterThan(10 * ESTIMATES)
})
