import {
  type Address,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseEther,
  parseGwei,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { followChain } from '../../src/bundler/send/followChain.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { REFUSED } from '../support/chain/settableAccount.js'
import { SPENDER, spendingAccountCode } from '../support/chain/spendingAccount.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { openWorld, type World } from '../support/world/openWorld.js'
import { useFreshWorld } from '../support/world.js'

/**
 * The attacker's account passes every simulation and reverts on the chain, where the operator pays for the
 * whole bundle. Without consequences one operation costs five bundles, and can be sent again at once.
 */
const postgres = useDatabase()

describe('an operation that makes bundles fail on the chain', () => {
  const chain = useFreshWorld({}, postgres)

  const executor = () => chain().executors[0]!.address
  const balance = (): Promise<bigint> => chain().anvil.client.getBalance({ address: executor() })
  const sent = (): Promise<number> =>
    chain().anvil.client.getTransactionCount({ address: executor() })

  /** A round whose bundle is mined in a block in which the account refuses. */
  const roundRefused = async (context = chain().context): Promise<void> => {
    await chain().setAutomine(false)
    await chain().round()
    await chain().anvil.request('anvil_setCoinbase', [REFUSED])
    await chain().anvil.request('evm_mine', [])
    await chain().anvil.request('anvil_setCoinbase', [`0x${'0'.repeat(40)}`])
    await chain().setAutomine(true)
    await followChain(context, await chain().heads.refresh())
  }

  const poisoned = async () => {
    const account = await chain().createAccount()
    await chain().configure(account, { refusesOnChain: true })
    return { account, hash: await chain().admit(chain().operation(account)) }
  }

  test('costs one bundle and not five; the others in it are served by the next', async () => {
    const innocent: Hex[] = []
    for (let i = 0; i < 3; i++)
      innocent.push(await chain().admit(chain().operation(await chain().createAccount())))
    const { hash } = await poisoned()
    const [before, count] = [await balance(), await sent()]
    await roundRefused()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'AA23' })
    const loss = before - (await balance())
    expect(loss).toBeLessThan(300_000n * parseGwei('5'))
    await chain().settle()
    expect(await sent()).toBe(count + 2)
    for (const each of innocent)
      expect(await chain().stored(each)).toMatchObject({ state: 'included', attempts: 0 })
  })

  test.each([
    ['is refused', { error: { code: -32601, message: 'no' } }],
    ['never comes', {}],
    ['is empty', { result: null }],
  ])('is blamed with all others of its bundle where the trace %s', async (_, trace) => {
    const { hash } = await poisoned()
    const plain = await startChangedNode(chain().anvil.url, (method, _params, answer) =>
      method.startsWith('debug_') ? { jsonrpc: '2.0', id: Object(answer).id, ...trace } : answer,
    )
    const node = createNodeClient({ urls: [plain.url], logger: silent })
    try {
      // A replay does not show the block's producer, on which the account looks.
      await roundRefused({ ...chain().context, node })
      expect(await chain().stored(hash)).toMatchObject({ state: 'pooled', attempts: 1 })
    } finally {
      await node.close()
      await plain.stop()
    }
  })

  test('makes its sender rest, whatever it sends next', async () => {
    const { account, hash } = await poisoned()
    await roundRefused()
    expect((await chain().stored(hash)).state).toBe('dropped')
    const again = chain().operation(account)
    await expect(chain().admit(again)).rejects.toThrow(/made 1 bundles fail .* send again in \d+ s/)
    const other = chain().operation(account, { maxFeePerGas: parseGwei('20') })
    await expect(chain().admit(other)).rejects.toMatchObject({ code: -32504, rule: 'GREP-020' })
    await chain().admit(chain().operation(await chain().createAccount()))
  })

  test('slows new senders of its app down to four operations at a time after the third', async () => {
    const known = await chain().createAccount()
    await chain().admit(chain().operation(known))
    await chain().settle()
    for (let i = 0; i < 3; i++) {
      await poisoned()
      await roundRefused()
    }
    for (let i = 0; i < 4; i++)
      await chain().admit(chain().operation(await chain().createAccount()))
    const fifth = chain().operation(await chain().createAccount())
    await expect(chain().admit(fifth)).rejects.toThrow(/made 3 bundles fail/)
    await chain().admit(chain().operation(known, { nonce: 1n }))
  })
})

describe('a staked paymaster of v0.6 whose postOp fails on the chain without a reason', () => {
  test('costs one bundle, is named by the trace, and is banned with all its operations', async () => {
    const stakes = { minimumStake: 1n, minimumUnstakeDelay: 1 }
    const chain = await openWorld(postgres().database, {
      definition: { rules: 'full', ...stakes },
    })
    try {
      const paymaster = await stakedPaymaster(chain)
      const sponsored = async () =>
        chain.operation(await chain.createAccount(), {
          paymaster,
          paymasterData: '0x000100',
          verificationGasLimit: 200_000n,
          preVerificationGas: 50_000n,
        })
      const hash = await chain.admit(await sponsored())
      await chain.anvil.request('evm_setAutomine', [false])
      await chain.round()
      await chain.anvil.request('anvil_setCoinbase', [SPENDER])
      await chain.anvil.request('evm_mine', [])
      await chain.anvil.request('anvil_setCoinbase', [`0x${'0'.repeat(40)}`])
      await chain.anvil.request('evm_setAutomine', [true])
      await chain.round()
      expect(await chain.stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'AA50' })
      const next = chain.admit(await sponsored())
      await expect(next).rejects.toMatchObject({ code: -32504, rule: 'GREP-010' })
    } finally {
      await chain.stop()
    }
  })

  /** A spending account with a deposit and a stake. */
  async function stakedPaymaster({ anvil, ...chain }: World): Promise<Address> {
    const paymaster = await chain.createAccount(parseEther('10'))
    await anvil.request('anvil_setCode', [paymaster, spendingAccountCode])
    await anvil.request('anvil_impersonateAccount', [paymaster])
    await anvil.request('anvil_setBalance', [paymaster, numberToHex(parseEther('2'))])
    const abi = parseAbi(['function addStake(uint32) payable'])
    const data = encodeFunctionData({ abi, functionName: 'addStake', args: [86_400] })
    const to = chain.entryPoint.address
    const value = numberToHex(parseEther('1'))
    const { status } = await anvil.send({ from: paymaster, to, data, value })
    expect(status).toBe('0x1')
    await chain.heads.refresh()
    return paymaster
  }
})
