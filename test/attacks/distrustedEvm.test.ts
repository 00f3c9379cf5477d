import { type Address, concatHex, createTestClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import { HANDLER } from '../../src/simulation/inProcess/simulateOperation.js'
import { rpc } from '../support/http/jsonRpc.js'
import { type HostileOperation, hostileAccount } from '../support/service/hostileAccount.js'
import { counterOf, metricsToken } from '../support/service/metricsOf.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * The attacker gives one wei to the address from which simulations call the EntryPoint, and sends an
 * operation whose validation takes another way where that address has a balance. Our EVM takes it for
 * empty; a node without that override answers otherwise. Before: one wei and one operation, and no operation
 * of anybody was validated by our EVM until the service was restarted.
 */

const purser = useRunningPurser(['--operator-token', metricsToken])

/** The code answers 0 to every call, so that every signature is right; `before` runs first. */
function accepting(before: Hex): Hex {
  return concatHex([before, '0x5f5f5260205ff3'])
}

// PUSH20 handler, BALANCE, PUSH1 27, JUMPI: to the JUMPDEST, past a MULMOD, if it has a balance.
const looksAtHandler = accepting(
  concatHex(['0x73', HANDLER, '0x31', '0x601d', '0x57', '0x5f5f5f0950', '0x5b']),
)

function send(operation: HostileOperation) {
  const { info } = purser()
  return rpc(info.standardUrl, 'eth_sendUserOperation', [operation, info.entryPoints['0.7']])
}

function compared(outcome: string) {
  return counterOf(purser().info, 'purser_validations_compared_total', `outcome="${outcome}"`)
}

function validated(engine: string) {
  return counterOf(purser().info, 'purser_validations_total', `engine="${engine}"`)
}

test('money at the address of the simulations changes nothing for the operations of others', async () => {
  const { info } = purser()
  const tester = createTestClient({ mode: 'anvil', chain: foundry, transport: http(info.rpcUrl) })
  await tester.setBalance({ address: HANDLER as Address, value: 1n })
  const { operation } = await hostileAccount(info, 'looks at the handler', looksAtHandler)
  await send(operation)

  // Each is compared, because its code is new, after the attacker's operation was.
  for (const index of [1, 2, 3]) {
    const before = await compared('agrees')
    const code = accepting(`0x60${index.toString(16).padStart(2, '0')}50`)
    const honest = await hostileAccount(info, `honest ${index}`, code)
    expect((await send(honest.operation)).body.error).toBeUndefined()
    await until(async () => (await compared('agrees')) > before)
  }
  expect(await compared('differs')).toBe(0)
  expect(await validated('trace')).toBe(0)
  expect(await validated('inProcess')).toBeGreaterThanOrEqual(3)
})
