import { type Hex, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { rpc } from '../support/http/jsonRpc.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * An attacker who finds an input that is answered with -32603 has found a path that nobody thought of. Call data
 * from 15,000 to 32,000 bytes were one: the small gas limits of a search lay below the calldata floor of
 * EIP-7623. The test walks sizes, kinds of bytes, methods and versions.
 */

const purser = useRunningPurser()

/** Every call is answered with 32 zero bytes: each signature is right, each call succeeds. */
const ACCEPTING: Hex = '0x5f5f5260205ff3'

const sizes = [0, 1, 4, 1_000, 4_000, 8_000, 14_000, 15_000, 20_000, 26_000, 32_000, 33_000, 50_000]
const large = [80_000, 100_000, 116_000, 117_964, 118_000, 125_000, 131_072, 131_073, 200_000]

const kinds: readonly (readonly [name: string, byte: string])[] = [
  ['zeros', '00'],
  ['ones', 'ff'],
  ['a zero every other byte', '00ff'],
]

function bytes(unit: string, size: number): Hex {
  return `0x${unit.repeat(size).slice(0, size * 2)}`
}

describe.each(['0.6', '0.7', '0.8', '0.9'] satisfies Version[])('EntryPoint v%s', (version) => {
  test.each(kinds)('no size of call data that are %s is an internal error', async (name, unit) => {
    const { info } = purser()
    const { operation } = await hostileAccount(info, `${version} ${name}`, ACCEPTING, '0x', version)
    const entryPoint = info.entryPoints[version]
    for (const [index, size] of [...sizes, ...large].entries()) {
      // Of a nonce key of its own, as the operation before it may be included by then.
      const nonce = numberToHex(BigInt(index) << 64n)
      const sized = { ...operation, nonce, callData: bytes(unit, size) }
      const estimate = await rpc(info.standardUrl, 'eth_estimateUserOperationGas', [
        sized,
        entryPoint,
      ])
      const isPossible = size <= 116_000
      const place = `${size} bytes: ${JSON.stringify(estimate.body.error)}`
      if (isPossible) expect(estimate.body.error, place).toBeUndefined()
      else expect(estimate.body.error?.code, place).not.toBe(-32_603)
      const limited = { ...sized, ...estimate.body.result }
      const sent = await rpc(info.standardUrl, 'eth_sendUserOperation', [limited, entryPoint])
      expect(sent.body.error?.code, `${place} ${JSON.stringify(sent.body)}`).not.toBe(-32_603)
    }
  })

  test.each(['signature', 'factoryData', 'paymasterData', 'initCode', 'paymasterAndData'])(
    'no size of %s is an internal error',
    async (field) => {
      const { info } = purser()
      const { sender, operation } = await hostileAccount(
        info,
        `${version} ${field}`,
        ACCEPTING,
        '0x01',
        version,
      )
      const entityOf: Readonly<Record<string, object>> = {
        factoryData: { factory: sender },
        paymasterData: { paymaster: sender },
      }
      for (const size of [
        0, 1, 19, 20, 52, 65, 8_192, 8_193, 15_000, 26_000, 60_000, 117_000, 131_073,
      ]) {
        const value = bytes('ab', size)
        const sized = { ...operation, ...entityOf[field], [field]: value }
        for (const method of ['eth_estimateUserOperationGas', 'eth_sendUserOperation']) {
          const { body } = await rpc(info.standardUrl, method, [sized, info.entryPoints[version]])
          expect(body.error?.code, `${method} ${size}: ${JSON.stringify(body)}`).not.toBe(-32_603)
        }
      }
    },
  )
})
