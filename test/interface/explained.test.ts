import {
  type Address,
  createTestClient,
  type Hex,
  http,
  numberToHex,
  publicActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { devVersions } from '../../src/cli/devnet/devContracts.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { fund, nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const info = usePurser()
const dialects = ['bundlerUrl', 'standardUrl'] as const

async function draftOf(version: (typeof devVersions)[number]) {
  const account = await simpleSmartAccount(info(), version, `empty signature ${version}`)
  await fund(info(), account.address)
  const { factory, factoryData } = await account.getFactoryArgs()
  const draft = {
    sender: account.address,
    nonce: '0x0',
    ...(version === '0.6'
      ? { initCode: `${factory}${factoryData?.slice(2)}` }
      : { factory, factoryData }),
    callData: await account.encodeCalls([{ to: TARGET, data: '0x1234' }]),
  }
  return { account, draft, dummy: await account.getStubSignature() }
}

describe.each(devVersions)('an estimate without a signature, EntryPoint v%s', (version) => {
  test.each(dialects)('is that with the most common dummy (%s)', async (dialect) => {
    const { account, draft, dummy } = await draftOf(version)
    const estimate = async (fields: object): Promise<Json> => {
      const params = [{ ...draft, ...fields }, account.entryPoint.address]
      const { body } = await rpc(info()[dialect], 'eth_estimateUserOperationGas', params)
      expect(body.error).toBeUndefined()
      return body.result
    }
    const expected = await estimate({ signature: dummy })
    for (const fields of [{}, { signature: '0x' }, { signature: null }])
      expect(await estimate(fields)).toMatchObject({
        callGasLimit: expected.callGasLimit,
        verificationGasLimit: expected.verificationGasLimit,
        preVerificationGas: expected.preVerificationGas,
      })
  })

  test('a signature that is given is taken as given', async () => {
    const { account, draft } = await draftOf(version)
    const params = [{ ...draft, signature: '0x12' }, account.entryPoint.address]
    const { body } = await rpc(info().standardUrl, 'eth_estimateUserOperationGas', params)
    expect(body.error?.message).toMatch(/^AA23/)
    expect(body.error?.message).not.toContain('has no signature')
  })
})

/** Runtime code that reverts with anything as its call. */
const REVERTS: Hex = '0x5f5ffd'

test('an account that no dummy suits is asked for one, with its own error', async () => {
  const sender = '0x00000000000000000000000000000000000e5161'
  await nodeClient(info()).request({ method: 'anvil_setCode', params: [sender, REVERTS] } as never)
  const op = { sender, nonce: numberToHex(0), callData: '0x' }
  const params = [op, info().entryPoints['0.7']]
  const { body } = await rpc(info().standardUrl, 'eth_estimateUserOperationGas', params)
  expect(body.error?.message).toMatch(
    /^AA23 reverted.*The operation has no signature.*give a dummy/,
  )
})

describe.each(devVersions)('a refusal says why, EntryPoint v%s', (version) => {
  test('too little verification gas is distinguished from a revert', async () => {
    const { account, draft } = await draftOf(version)
    const ask = (method: string, op: object) =>
      rpc(info().standardUrl, method, [op, account.entryPoint.address])
    const { body } = await ask('eth_estimateUserOperationGas', draft)
    const { validAfter: _, validUntil: __, ...gas } = body.result as Record<string, Hex>
    const op = { ...draft, ...gas, verificationGasLimit: '0x9c40' } as Record<string, Hex>
    const bigints = ['nonce', ...Object.keys(gas), 'verificationGasLimit']
    const typed = Object.fromEntries(
      Object.entries(op).map(([name, each]) => [
        name,
        bigints.includes(name) ? BigInt(each) : each,
      ]),
    )
    const signature = await account.signUserOperation(typed as never)
    const sent = (await ask('eth_sendUserOperation', { ...op, signature })).body
    const [, needed] =
      /^AA(?:13|23).*out of gas, the verificationGasLimit of 40000 is too low, about (\d+) is needed/.exec(
        sent.error?.message ?? '',
      ) ?? []
    expect(Number(needed)).toBeGreaterThan(40_000)
    expect(Number(needed)).toBeLessThanOrEqual(Number(gas.verificationGasLimit))
    // With enough gas another reason ends it: both are named.
    const wrong = (await ask('eth_sendUserOperation', { ...op, signature: '0x12' })).body
    expect(wrong.error?.message).toMatch(
      /the verificationGasLimit of 40000 is too low\. Estimate again\. With more gas: AA23 reverted.*\S/,
    )
  })

  test('the error for a sender without code says how to deploy it', async () => {
    const { account, draft } = await draftOf(version)
    const { factory: _, factoryData: __, initCode: ___, ...bare } = draft as Record<string, unknown>
    const params = [bare, account.entryPoint.address]
    const { body } = await rpc(info().standardUrl, 'eth_estimateUserOperationGas', params)
    expect(body.error?.message).toMatch(/^AA20.*factory and factoryData/)
  })
})

test('an account of another EntryPoint version is named', async () => {
  const account = await simpleSmartAccount(info(), '0.7', 'of another version')
  const { factory, factoryData } = await account.getFactoryArgs()
  const wallet = createTestClient({ mode: 'anvil', chain: foundry, transport: http(info().rpcUrl) })
    .extend(walletActions)
    .extend(publicActions)
  const hash = await wallet.sendTransaction({
    account: privateKeyToAccount(devKey(4)),
    to: factory as Address,
    data: factoryData as Hex,
  })
  await wallet.waitForTransactionReceipt({ hash })
  const op = {
    sender: account.address,
    nonce: '0x0',
    callData: '0x',
    signature: await account.getStubSignature(),
  }
  const params = [op, info().entryPoints['0.6']]
  const { body } = await rpc(info().standardUrl, 'eth_estimateUserOperationGas', params)
  expect(body.error?.message).toMatch(/the account is one of EntryPoint v0.7 .*came to v0.6/)
})

test('code that a developer replaces counts from the next block on', async () => {
  const account = await simpleSmartAccount(info(), '0.7', 'replaced code')
  const callee: Address = '0x00000000000000000000000000000000000ca11e'
  const { factory, factoryData } = await account.getFactoryArgs()
  const callData = await account.encodeCalls([{ to: callee }])
  const op = { sender: account.address, nonce: '0x0', factory, factoryData, callData }
  const estimate = async () =>
    (await rpc(info().standardUrl, 'eth_estimateUserOperationGas', [op, info().entryPoints['0.7']]))
      .body
  const node = createTestClient({ mode: 'anvil', chain: foundry, transport: http(info().rpcUrl) })
  await node.setCode({ address: callee, bytecode: '0x00' })
  await node.mine({ blocks: 1 })
  await until(async () => (await estimate()).result)
  await node.setCode({ address: callee, bytecode: REVERTS })
  await node.mine({ blocks: 1 })
  const { error } = await until(async () => {
    const answer = await estimate()
    return answer.error && answer
  })
  expect(error?.code).toBe(-32521)
})

test('clients of one URL read the chain id as they know it, and hear why no transaction is estimated', async () => {
  const ask = async (method: string, params: unknown[] = []) =>
    (await rpc(info().standardUrl, method, params)).body
  expect((await ask('net_version')).result).toBe(String(info().chainId))
  expect((await ask('pm_chainId')).result).toBe(numberToHex(info().chainId))
  expect((await ask('pm_supportedEntryPoints')).result).toEqual(
    (await ask('eth_supportedEntryPoints')).result,
  )
  const { error } = await ask('eth_estimateGas', [{ to: TARGET }])
  expect(error).toMatchObject({
    code: -32601,
    message: expect.stringMatching(
      /eth_estimateUserOperationGas; .* allows it with estimateGas\.$/,
    ),
  })
})
