import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { type Act, actCall } from '../../../test/support/erc7562/actor.js'
import {
  HOWS,
  playOf,
  ROLES,
  rulesOf,
  type Stage,
  stages,
} from '../../../test/support/erc7562/stage.js'
import { usesOpcode } from '../../evm/index.js'
import { framesOf } from './ruleContext.js'

const BANNED = [
  ['ORIGIN', 0x32],
  ['GASPRICE', 0x3a],
  ['BLOCKHASH', 0x40],
  ['COINBASE', 0x41],
  ['TIMESTAMP', 0x42],
  ['NUMBER', 0x43],
  ['DIFFICULTY', 0x44],
  ['GASLIMIT', 0x45],
  ['BASEFEE', 0x48],
  ['BLOBHASH', 0x49],
  ['BLOBBASEFEE', 0x4a],
] as const

/** A call, with little gas, of a contract that has this code. */
function callOf(stage: Stage, code: Hex, gas = 10_000n): Act {
  return { what: 'CALL', subject: stage.world.place(code), gas }
}

describe.each(stages())('opcodes on EntryPoint %s', (_, stage) => {
  const { stranger } = stage

  describe.each(ROLES)('of the %s', (role) => {
    it.each(BANNED)('OP-011: %s is banned, wherever it runs', (what, opcode) => {
      for (const how of HOWS) {
        const play = playOf(role, { what, how, via: stranger })
        const { violations } = stage.perform(play)
        expect(violations).toHaveLength(1)
        expect(violations[0]).toMatchObject({
          rule: 'OP-011',
          entity: role,
          address: stage.addressOf(role, play),
          opcode,
          contract: how === 'SELF' ? stage.addressOf(role, play) : stranger,
          message: expect.stringContaining(`${role} uses banned opcode: ${what}`),
        })
        expect(violations[0]!.stakeNeeded).toBeUndefined()
      }
    })

    it('OP-011: a stake does not help', () => {
      expect(rulesOf(stage.perform(playOf(role, { what: 'TIMESTAMP' }, ROLES)))).toEqual(['OP-011'])
    })

    it.each([
      ['INVALID', '0xfe', 0xfe],
      ['SELFDESTRUCT', '0x33ff', 0xff],
    ] as const)('OP-011: %s is banned', (name, code, opcode) => {
      const { violations } = stage.perform(playOf(role, callOf(stage, code)))
      expect(violations).toMatchObject([{ rule: 'OP-011', entity: role, opcode }])
      expect(violations[0]!.message).toContain(name)
    })

    it('OP-011: other opcodes of the environment are not', () => {
      expect(rulesOf(stage.perform(playOf(role, { what: 'CHAINID' })))).toEqual([])
    })

    it('OP-012: GAS is banned but directly before a call', () => {
      for (const how of HOWS) {
        const { violations } = stage.perform(playOf(role, { what: 'GAS', how, via: stranger }))
        expect(violations).toMatchObject([{ rule: 'OP-012', entity: role, opcode: 0x5a }])
      }
      for (const what of ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL']) {
        expect(rulesOf(stage.perform(playOf(role, { what, subject: stranger })))).toEqual([])
      }
    })

    it('OP-013: opcodes that the fork does not have are banned', () => {
      const { violations } = stage.perform(playOf(role, callOf(stage, '0x0c')))
      expect(violations).toMatchObject([{ rule: 'OP-013', entity: role, opcode: 0x0c }])
      expect(violations[0]!.message).toContain(`${role} uses banned opcode: 0xc`)
    })

    it.each([
      ['an endless loop', '0x5b5f56'],
      ['the gas that SSTORE leaves', '0x5f5f55'],
    ] as const)('OP-020: %s that a caller survives is a violation', (__, code) => {
      const act = callOf(stage, code, 2_300n)
      const { violations } = stage.perform(playOf(role, act))
      expect(violations[0]).toMatchObject({ rule: 'OP-020', entity: role, contract: act.subject })
    })

    it('OP-020: a call that reverts by its own will is none', () => {
      expect(rulesOf(stage.perform(playOf(role, callOf(stage, '0x5f5ffd'))))).toEqual([])
    })

    it.each([
      ['BALANCE', 0x31],
      ['SELFBALANCE', 0x47],
    ] as const)('OP-080: %s is for staked entities', (what, opcode) => {
      for (const how of HOWS) {
        const act = { what, how, via: stranger, subject: stranger }
        const { violations } = stage.perform(playOf(role, act))
        expect(violations).toMatchObject([
          { rule: 'OP-080', entity: role, opcode, stakeNeeded: { role } },
        ])
        expect(rulesOf(stage.perform(playOf(role, act, [role])))).toEqual([])
      }
    })

    it('OP-080: the stake of another entity does not count', () => {
      const others = ROLES.filter((other) => other !== role)
      const play = playOf(role, { what: 'SELFBALANCE' }, others)
      expect(rulesOf(stage.perform(play))).toEqual(['OP-080'])
    })
  })

  it('leaves the execution alone', () => {
    const fields = { callData: actCall({ what: 'TIMESTAMP' }) }
    const { root } = stage.world.handleOps(stage.operation({ fields })).record!
    expect([...framesOf(root)].some((frame) => usesOpcode(frame, 0x42))).toBe(true)
    expect(rulesOf(stage.perform({ fields }))).toEqual([])
    expect(rulesOf(stage.perform({ account: { what: 'TIMESTAMP' } }))).toEqual(['OP-011'])
  })
})
