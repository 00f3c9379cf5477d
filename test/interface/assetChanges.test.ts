import {
  type Address,
  concatHex,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  http,
  parseEther,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { type Json, result, rpc } from '../support/http/jsonRpc.js'
import { giveTokens, tokenNamed } from '../support/service/devTokens.js'
import { fund, nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/* What an operation moves, asked of the running service before it is signed or sent. */

const info = usePurser()

const { Things } = compileSolidity(`
contract Things {
  event Transfer(address indexed from, address indexed to, uint256 indexed id);
  event Approval(address indexed owner, address indexed spender, uint256 indexed id);
  event TransferSingle(address indexed by, address indexed from, address indexed to, uint256 id, uint256 value);
  event TransferBatch(address indexed by, address indexed from, address indexed to, uint256[] ids, uint256[] values);
  string public name = "Things";
  function symbol() external pure returns (bytes32) { return "THNG"; }
  function balanceOf(address, uint256) external pure returns (uint256) { return 40; }
  function mint(address to, uint256 id) external { emit Transfer(address(0), to, id); }
  function approve(address to, uint256 id) external { emit Approval(msg.sender, to, id); }
  function single(address to, uint256 id, uint256 value) external { emit TransferSingle(msg.sender, msg.sender, to, id, value); }
  function batch(address from, uint256[] calldata ids, uint256[] calldata values) external { emit TransferBatch(msg.sender, from, msg.sender, ids, values); }
  function undone() external { try this.failing() {} catch {} }
  function failing() external { emit Transfer(address(0), msg.sender, 9); revert("not today"); }
  function many(uint256 n) external { for (uint256 i = 0; i < n; i++) emit Transfer(address(0), msg.sender, i); }
  function pay(address payable to) external payable { to.transfer(msg.value / 2); payable(msg.sender).transfer(msg.value / 4); }
}`)
const abi = Things!.abi
let things: Address

beforeAll(async () => {
  const wallet = createWalletClient({
    account: privateKeyToAccount(devKey(5)),
    transport: http(info().rpcUrl),
  })
  const hash = await wallet.deployContract({ abi, bytecode: Things!.bytecode, chain: null })
  const receipt = await nodeClient(info()).waitForTransactionReceipt({ hash })
  things = getAddress(receipt.contractAddress!)
  // The service follows the chain by its own reads.
  const { params } = await unsigned('0.7', 'first', [call('mint', OTHER, 1n)])
  await until(async () => (await simulate.alchemy(params)).changes.length === 1 || undefined)
})

type Call = { readonly to: Address; readonly value?: bigint; readonly data?: Hex | undefined }

/** An operation that is not signed, without limits and fees, of an account that does not exist yet. */
async function unsigned(version: Version, seed: string, calls: readonly Call[]) {
  const account = await simpleSmartAccount(info(), version, seed)
  await fund(info(), account.address)
  const { factory = '0x', factoryData = '0x' } = await account.getFactoryArgs()
  const created =
    version === '0.6' ? { initCode: concatHex([factory, factoryData]) } : { factory, factoryData }
  const operation = {
    sender: account.address,
    nonce: '0x0',
    ...created,
    callData: await account.encodeCalls(calls),
    signature: await account.getStubSignature(),
  }
  return { operation, params: [operation, info().entryPoints[version]], sender: account.address }
}

const simulate = {
  pimlico: (params: unknown) => result(info().standardUrl, 'pimlico_simulateAssetChanges', params),
  alchemy: (params: unknown) =>
    result(info().standardUrl, 'alchemy_simulateUserOperationAssetChanges', params),
}

function call(functionName: string, ...args: unknown[]): Call {
  return { to: things, data: encodeFunctionData({ abi, functionName, args }) }
}

const OTHER = getAddress('0x00000000000000000000000000000000000a11ce')

describe.each(['0.6', '0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  test('ERC-20 tokens that leave and arrive, netted for the sender and each on its own', async () => {
    const token = tokenNamed(info(), 'tUSD')
    const drafted = await unsigned(version, `assets ${version}`, [])
    const { sender } = drafted
    await giveTokens(info(), token, sender, 5_000_000n)
    const move = (to: Address, amount: bigint): Call => ({
      to: token.address,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
    })
    const { params } = await unsigned(version, `assets ${version}`, [
      move(OTHER, 1_500_000n),
      move(OTHER, 500_000n),
      {
        to: token.address,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [OTHER, 7n] }),
      },
    ])
    const address = getAddress(token.address)
    const { assetChanges } = await simulate.pimlico(params)
    expect(assetChanges).toEqual([
      {
        token: { tokenType: 'ERC-20', address, name: 'Test Dollar', symbol: 'tUSD', decimals: 6 },
        value: { diff: '-2000000', pre: '5000000', post: '3000000' },
      },
    ])
    const { changes, error } = await simulate.alchemy(params)
    expect(error).toBeNull()
    const change = {
      assetType: 'ERC20',
      changeType: 'TRANSFER',
      from: sender,
      to: OTHER,
      rawAmount: '1500000',
      amount: '1.5',
      contractAddress: address,
      tokenId: null,
      decimals: 6,
      symbol: 'tUSD',
      name: 'Test Dollar',
      logo: null,
    }
    expect(changes).toEqual([
      change,
      { ...change, rawAmount: '500000', amount: '0.5' },
      { ...change, changeType: 'APPROVE', rawAmount: '7', amount: '0.000007' },
    ])
  })

  test('an ERC-721 mint, ERC-1155 transfers single and in a batch, and what was undone is not there', async () => {
    const seed = `things ${version}`
    const { sender } = await unsigned(version, seed, [])
    const { params } = await unsigned(version, seed, [
      call('mint', sender, 77n),
      call('single', OTHER, 5n, 3n),
      call('batch', OTHER, [5n, 6n], [1n, 20n]),
      call('undone'),
      call('approve', OTHER, 77n),
    ])
    const { assetChanges } = await simulate.pimlico(params)
    const token = { address: things, name: 'Things', symbol: 'THNG' }
    expect(assetChanges).toEqual([
      {
        token: { tokenType: 'ERC-721', tokenId: '77', ...token },
        value: { diff: '1', pre: '0', post: '1' },
      },
      {
        token: { tokenType: 'ERC-1155', tokenId: '5', ...token },
        value: { diff: '-2', pre: '40', post: '38' },
      },
      {
        token: { tokenType: 'ERC-1155', tokenId: '6', ...token },
        value: { diff: '20', pre: '40', post: '60' },
      },
    ])
    const { changes } = await simulate.alchemy(params)
    const short = changes.map((change: Json) => [
      change.assetType,
      change.changeType,
      change.from,
      change.to,
      change.tokenId,
      change.amount,
    ])
    expect(short).toEqual([
      ['ERC721', 'TRANSFER', zeroAddress, sender, '77', '1'],
      ['ERC1155', 'TRANSFER', sender, OTHER, '5', '3'],
      ['ERC1155', 'TRANSFER', OTHER, sender, '5', '1'],
      ['ERC1155', 'TRANSFER', OTHER, sender, '6', '20'],
      ['ERC721', 'APPROVE', sender, OTHER, '77', '1'],
    ])
  })

  test('the coin, without what the sender pays for gas', async () => {
    const value = parseEther('0.2')
    const seed = `coin ${version}`
    const { params, sender } = await unsigned(version, seed, [
      { to: things, value, data: call('pay', OTHER).data },
    ])
    const { assetChanges } = await simulate.pimlico(params)
    expect(assetChanges).toEqual([
      {
        token: { tokenType: 'NATIVE' },
        value: {
          diff: `-${parseEther('0.15')}`,
          pre: `${parseEther('1')}`,
          post: `${parseEther('0.85')}`,
        },
      },
    ])
    const { changes } = await simulate.alchemy(params)
    const moves = changes.map((change: Json) => [change.from, change.to, change.amount])
    expect(moves).toEqual([
      [sender, things, '0.2'],
      [things, OTHER, '0.1'],
      [things, sender, '0.05'],
    ])
    expect(changes[0]).toMatchObject({ assetType: 'NATIVE', symbol: 'ETH', contractAddress: null })
  })

  test('an operation that fails: an error with its reason, in the form of each vendor', async () => {
    const { params } = await unsigned(version, `failing ${version}`, [call('failing')])
    const answer = await rpc(info().standardUrl, 'pimlico_simulateAssetChanges', params)
    expect(answer.body.error).toMatchObject({
      code: -32521,
      message: expect.stringContaining('not today'),
    })
    const { changes, error } = await simulate.alchemy(params)
    expect(changes).toEqual([])
    expect(error).toMatchObject({
      code: -32521,
      message: expect.stringContaining('not today'),
      meaning: expect.any(String),
      steps: expect.any(Array),
    })
  })

  test('with limits of its own it runs by these: too little gas for its call is a failure', async () => {
    const seed = `limits ${version}`
    const { operation, params } = await unsigned(version, seed, [call('mint', OTHER, 1n)])
    const gas = {
      verificationGasLimit: '0x80000',
      preVerificationGas: '0xffff',
      maxFeePerGas: '0x77359400',
      maxPriorityFeePerGas: '0x1',
    }
    const ample = [{ ...operation, ...gas, callGasLimit: '0x20000' }, params[1]]
    expect((await simulate.alchemy(ample)).changes).toHaveLength(1)
    expect((await simulate.pimlico(ample)).assetChanges).toEqual([])
    const short = [{ ...operation, ...gas, callGasLimit: '0x800' }, params[1]]
    expect((await simulate.alchemy(short)).error.code).toBe(-32521)
  })
})

test('what the EntryPoint refuses is an error of its code', async () => {
  const { operation, params } = await unsigned('0.7', 'wrong nonce', [])
  const { error } = await simulate.alchemy([{ ...operation, nonce: '0x5' }, params[1]])
  expect(error).toMatchObject({ code: -32500, rule: 'AA25' })
})

test('answers are bounded, and other blocks than the newest are refused', async () => {
  const { params } = await unsigned('0.7', 'many', [call('many', 501n)])
  const answer = await rpc(info().standardUrl, 'pimlico_simulateAssetChanges', params)
  expect(answer.body.error).toMatchObject({
    code: -32500,
    message: expect.stringContaining('more than 500 times'),
  })
  const fewer = await unsigned('0.7', 'fewer', [call('many', 499n)])
  expect((await simulate.pimlico(fewer.params)).assetChanges).toHaveLength(499)
  for (const name of [
    'pimlico_simulateAssetChanges',
    'alchemy_simulateUserOperationAssetChanges',
  ]) {
    const past = await rpc(info().standardUrl, name, [...fewer.params, '0x1'])
    expect(past.body.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('newest state'),
    })
    const newest = await rpc(info().standardUrl, name, [...fewer.params, 'latest'])
    expect(newest.body.error).toBeUndefined()
  }
})
