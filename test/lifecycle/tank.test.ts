import { type Address, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { balanceOf, depositOf } from '../support/chain/depositOf.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()
const OWNER_KEY = devKey(1)
const STRANGER_KEY = devKey(2)
const POOR_KEY = generatePrivateKey()
const owner = privateKeyToAddress(OWNER_KEY)
let appId = ''

function commands() {
  return commandsOn(purser().dataFolder, { OWNER_KEY, STRANGER_KEY, POOR_KEY })
}
function chain() {
  return String(purser().info.chainId)
}
/** The chain has several EntryPoints, so commands on a tank name one. */
function on() {
  return ['--chain', chain(), '--entry-point', '0.6']
}
function tank(command: string, ...more: string[]) {
  return commands().answer('tank', command, '--app', appId, ...on(), ...more)
}
function refusal(command: string, ...more: string[]) {
  return commands().refusal('tank', command, '--app', appId, ...on(), ...more)
}
/** An app's fund is one for all EntryPoints of the chain. */
function fund(command: string, ...more: string[]) {
  return commands().answer('tank', command, '--app', appId, '--chain', chain(), ...more)
}
function fundRefusal(command: string, ...more: string[]) {
  return commands().refusal('tank', command, '--app', appId, '--chain', chain(), ...more)
}

/** What the EntryPoint itself says. */
function deposited(address: string): Promise<bigint> {
  const { rpcUrl, entryPoints } = purser().info
  return depositOf(rpcUrl, entryPoints['0.6'] as Address, address as Address)
}

beforeAll(async () => {
  appId = (await createTenant(purser().dataFolder, 'tanks')).appId
})

describe('purser tank', () => {
  test('show, deposit and withdraw, as the EntryPoint sees it', async () => {
    expect(await tank('show')).toContain('no tank')
    const made = await tank('deposit', '--amount', '1.5', '--key', 'env:OWNER_KEY')
    const address = labelled(made, 'tank')
    expect(labelled(made, 'deposit')).toBe('1.5 ETH')
    expect(labelled(made, 'owner')).toBe(owner.toLowerCase())
    expect(await deposited(address)).toBe(parseEther('1.5'))

    // Anyone may fill it; who owns it does not change.
    const filled = await tank('deposit', '--amount', '0.000000000000000001')
    expect(labelled(filled, 'owner')).toBe(owner.toLowerCase())
    expect(await deposited(address)).toBe(parseEther('1.5') + 1n)

    const to = privateKeyToAddress(generatePrivateKey())
    await tank('withdraw', '--amount', '0.5', '--key', 'env:OWNER_KEY', '--to', to)
    expect(await deposited(address)).toBe(parseEther('1') + 1n)
    expect(await balanceOf(purser().info.rpcUrl, to)).toBe(parseEther('0.5'))
    expect(labelled(await tank('show'), 'deposit')).toBe('1.000000000000000001 ETH')
  })

  test("a stranger's key, more than there is, and a payer without ether change nothing", async () => {
    const address = labelled(await tank('show'), 'tank')
    const before = await deposited(address)
    expect(await refusal('withdraw', '--amount', '0.1', '--key', 'env:STRANGER_KEY')).toMatch(
      /only the owner/i,
    )
    expect(await refusal('withdraw', '--amount', '0.1')).toMatch(/only the owner/i)
    expect(await refusal('withdraw', '--amount', '100', '--key', 'env:OWNER_KEY')).toMatch(
      /less than/,
    )
    expect(await refusal('deposit', '--amount', '0.1', '--key', 'env:POOR_KEY')).toMatch(/funds/i)
    expect(await deposited(address)).toBe(before)
  })

  test.each([
    ['deposit', ['--amount', '0'], '--amount'],
    ['withdraw', ['--amount=-1'], '--amount'],
    ['deposit', ['--amount', '1', '--key', 'env:NO_SUCH_KEY'], '--key'],
    ['withdraw', ['--amount', '1', '--key', 'env:OWNER_KEY', '--to', '0x12'], '--to'],
    ['deposit', ['--amount', '1', '--entry-point', '0.5'], 'EntryPoint 0.5'],
  ])('%s %j ends with one sentence', async (command, flags, text) => {
    const sentence = await refusal(command, ...flags)
    expect(sentence).toContain(text)
    expect(sentence).not.toContain(OWNER_KEY)
  })

  test('an unknown app or chain ends with one sentence', async () => {
    const { refusal } = commands()
    const id = '00000000-0000-4000-8000-000000000000'
    expect(await refusal('tank', 'show', '--app', id, '--chain', chain())).toContain(id)
    const sentence = await refusal('tank', 'show', '--app', appId, '--chain', '5')
    expect(sentence).toContain(chain())
  })
})

describe('purser tank mode, credit and alert', () => {
  test('an app pays by credit, which counts each reference once', async () => {
    expect(labelled(await fund('mode', '--mode', 'native'), 'mode')).toBe('native')
    const paid = ['--amount', '2', '--reference', 'invoice 1']
    expect(labelled(await fund('credit', ...paid), 'credit')).toBe('2 ETH')
    expect(labelled(await fund('credit', ...paid), 'credit')).toBe('2 ETH')
    const refund = await fund('credit', '--amount=-0.5', '--reference', 'refund 1')
    expect(labelled(refund, 'available')).toBe('1.5 ETH')
    expect(await fundRefusal('credit', '--amount=-2', '--reference', 'refund 2')).toMatch(
      /less than/,
    )
    expect(await fundRefusal('credit', '--amount', '3', '--reference', 'invoice 1')).toMatch(
      /invoice 1/,
    )
    expect(await fundRefusal('mode', '--mode', 'free')).toMatch(/tank, shared, native/)
    const alert = await fund('alert', '--below', '0.1', '--days', '5')
    expect(labelled(alert, 'alert')).toBe('below 0.1 ETH or 5 days')
    expect(labelled(await fund('mode', '--mode', 'tank'), 'mode')).toBe('tank')
    for (const [flag, command, ...needed] of [
      ['--entry-point', 'mode', '--mode', 'native'],
      ['--kind', 'credit', '--amount', '1', '--reference', 'invoice 2'],
      ['--entry-point', 'alert', '--below', '1'],
    ] as const)
      expect(await fundRefusal(command, ...needed, flag, '0.6')).toContain(flag)
    expect(labelled(await tank('show'), 'mode')).toBe('tank')
  })

  test('the shared tank is the operator’s, made and filled like any other', async () => {
    const { answer, refusal } = commands()
    const shared = ['--shared', ...on()]
    const made = await answer(
      'tank',
      'deposit',
      ...shared,
      '--amount',
      '1',
      '--key',
      'env:OWNER_KEY',
    )
    expect(labelled(made, 'deposit')).toBe('1 ETH')
    expect(labelled(await answer('tank', 'show', ...shared), 'tank')).toBe(labelled(made, 'tank'))
    expect(labelled(made, 'tank')).not.toBe(labelled(await tank('show'), 'tank'))
    expect(await refusal('tank', 'mode', ...shared, '--mode', 'native')).toMatch(/--app/)
    expect(await refusal('tank', 'show', '--chain', chain())).toMatch(/--app.*--shared/)
  })
})

test('the tank of an app that has ended can be emptied by its owner, and not filled', async () => {
  await commands().answer('app', 'revoke', appId)
  const address = labelled(await tank('show'), 'tank')
  const before = await deposited(address)
  expect(before).toBeGreaterThan(0n)
  expect(await refusal('deposit', '--amount', '1', '--key', 'env:OWNER_KEY')).toContain(appId)
  const all = ['--amount', labelled(await tank('show'), 'deposit').replace(' ETH', '')]
  await tank('withdraw', ...all, '--key', 'env:OWNER_KEY')
  expect(await deposited(address)).toBe(0n)
})
