import { expect, test } from 'vitest'
import { result, rpc } from '../support/http/jsonRpc.js'
import { createKey } from '../support/service/createKey.js'
import { expensiveCode } from '../support/service/expensiveCode.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker asks for estimates of operations that take as many steps as a transaction can pay for. Each is
 * run again and again to find its limits. Before: ten of them, and nobody was answered for 20 s. Another key is
 * answered many times before the first of them has its end.
 */

const purser = useRunningPurser()

const ESTIMATES = 10
const ANSWERS = 100

test('expensive estimates leave the thread to others', async () => {
  const { info } = purser()
  const otherUrl = await createKey(info, 'other')
  const { operation } = await hostileAccount(info, 'expensive', expensiveCode(700), '0x01')
  const entryPoint = info.entryPoints['0.7']
  let ended = 0
  const asking = Array.from({ length: ESTIMATES }, async () => {
    const answer = await rpc(info.standardUrl, 'eth_estimateUserOperationGas', [
      operation,
      entryPoint,
    ])
    // One that is refused for being the ninth was not run to its end.
    if (answer.body.error?.code !== -32_005) ended += 1
    return answer
  })
  for (let count = 0; count < ANSWERS; count++) {
    expect(await result(otherUrl, 'eth_chainId', [])).toBeDefined()
  }
  expect(ended).toBe(0)
  const answers = await Promise.all(asking)
  for (const { body } of answers) expect([undefined, -32_500, -32_005]).toContain(body.error?.code)
  expect(answers.filter(({ body }) => body.error?.code === -32_005)).toHaveLength(ESTIMATES - 8)
})
