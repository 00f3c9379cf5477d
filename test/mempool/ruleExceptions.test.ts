import type { Address, Hex } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { unixNow } from '../../src/base/unixNow.js'
import type { RuleException } from '../../src/erc4337/validationSettings.js'
import { useWorld } from '../support/world.js'

/* An account that refuses on the chain looks at the producer of its block (OP-011); a paymaster at its own storage (STO-031). */

describe.each(['inProcess', 'node'] as const)('an exception from rules, %s', (validationEngine) => {
  const exceptions: RuleException[] = []
  const chain = useWorld({
    definition: { rules: 'full', ruleExceptions: exceptions, validationEngine },
  })
  beforeEach(() => {
    exceptions.length = 0
  })

  const except = (address: Address, terms: Partial<RuleException> = {}): void => {
    const [role, rules, reason] = ['account', ['OP-011'], 'audited'] as const
    exceptions.push({ role, address, rules, reason, until: unixNow() + 600, ...terms })
  }
  const looking = async (): Promise<Address> => {
    const account = await chain().createAccount()
    await chain().configure(account, { refusesOnChain: true })
    return account
  }
  const admitting = (sender: Address, paymaster?: Address): Promise<Hex> =>
    chain().admit(chain().operation(sender, { paymaster }))
  const counted = async (entity: Address): Promise<number> => {
    const line = new RegExp(`^purser_rules_waived_total\\{.*entity="${entity}".*\\} (\\d+)$`, 'm')
    return Number(line.exec(await chain().parts.metrics.text())?.[1] ?? 0)
  }

  test('is for the named entity, and is counted', async () => {
    const account = await looking()
    except(await looking())
    except(account, { until: unixNow() - 1 })
    await expect(admitting(account)).rejects.toMatchObject({ rule: 'OP-011' })
    expect(await counted(account)).toBe(0)
    except(account)
    const hash = await admitting(account)
    expect(await counted(account)).toBe(1)
    await chain().settle()
    expect(await chain().stateOf(hash)).toBe('included')
  })

  test('ends: what waits in the pool then leaves it with the rule, though it was valid before', async () => {
    const account = await looking()
    except(account)
    const hash = await admitting(account)
    exceptions.length = 0
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'OP-011' })
  })

  test('ends for storage too, although the storage is the same as before', async () => {
    const [sender, paymaster] = [await chain().createAccount(), await chain().createAccount()]
    except(paymaster, { role: 'paymaster', rules: ['STO-031'] })
    const hash = await admitting(sender, paymaster)
    exceptions.length = 0
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'STO-031' })
  })

  test('lets an unstaked paymaster have four operations at a time', async () => {
    const paymaster = await chain().createAccount()
    except(paymaster, { role: 'paymaster', rules: ['STO-031'] })
    const senders: Address[] = []
    for (let count = 0; count < 5; count++) senders.push(await chain().createAccount())
    const fifth = senders[4]!
    const hashes: Hex[] = []
    for (const sender of senders.slice(0, 4)) hashes.push(await admitting(sender, paymaster))
    await expect(admitting(fifth, paymaster)).rejects.toMatchObject({
      code: -32505,
      data: { paymaster, limit: 4 },
    })
    await chain().settle()
    for (const hash of hashes) expect(await chain().stateOf(hash)).toBe('included')
    expect(await chain().stateOf(await admitting(fifth, paymaster))).toBe('pooled')
  })
})
