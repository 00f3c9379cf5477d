import { createRequire } from 'node:module'
import { type Address, concatHex, type Hex, pad, parseAbi, parseEther } from 'viem'
import {
  entryPoint06Abi,
  entryPoint07Abi,
  entryPoint08Abi,
  entryPoint09Abi,
  getUserOperationHash,
} from 'viem/account-abstraction'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  DETERMINISTIC_DEPLOYER,
  tank06,
  tank07,
  tokenTank06,
  tokenTank07,
  tokenTank08,
} from '../../../src/chain/contracts/deployments.js'
import { runtime as tankFactoryRuntime } from '../../../src/chain/contracts/generated/TankFactory.js'
import { type AnvilClient, anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import {
  type DeployedContracts,
  deployDevContracts,
} from '../../../src/cli/devnet/deployDevContracts.js'
import { DevChainError } from '../../../src/cli/devnet/devChainError.js'
import { devContracts, devVersions } from '../../../src/cli/devnet/devContracts.js'
import { devKey, funderKey } from '../../../src/cli/devnet/devKeys.js'
import { fundAccount } from '../../../src/cli/devnet/fundAccount.js'
import { type Anvil, startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { startNodeWithout } from '../../support/chain/httpNode.js'
import { silent as logger } from '../../support/logger.js'

const CHAIN_ID = 31337

let anvil: Anvil
let client: AnvilClient
let deployed: DeployedContracts

beforeAll(async () => {
  anvil = await startAnvil({ chainId: CHAIN_ID, logger })
  client = anvilClient(anvil.rpcUrl)
  deployed = await deployDevContracts(anvil.rpcUrl)
})

afterAll(() => anvil.stop())

test('puts EntryPoints and factories at their canonical addresses', async () => {
  expect(deployed.entryPoints).toEqual({
    '0.6': '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
    '0.7': '0x0000000071727de22e5e9d8baf0edac6f37da032',
    '0.8': '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
    '0.9': '0x433709009b8330fda32311df1c2afa402ed8d009',
  })
  expect(Object.keys(deployed.entryPoints)).toEqual(devVersions)
  expect(deployed.factories).toEqual({
    '0.6': '0x9406cc6185a346906296840746125a0e44976454',
    '0.7': '0x91e60e0613810449d098b0b5ec8b51a0fe8c8985',
    '0.8': '0x13e9ed32155810fdbd067d4522c492d6f68e5944',
    // That of the release candidate: npm does not have the one that is at 0xf4a7018f… in public.
    '0.9': devContracts('0.9').factory,
  })
  expect(deployed.delegates).toEqual({
    '0.8': '0xe6cae83bde06e4c305530e199d7217f42808555b',
    '0.9': '0xa46cc63ebf4bd77888aa327837d20b23a63a56b5',
  })
  expect(deployed.absent).toEqual([])
  const addresses = [
    ...Object.values(deployed.entryPoints),
    ...Object.values(deployed.factories),
    ...Object.values(deployed.delegates),
    tank06.address,
    tank07.address,
    tokenTank06.address,
    tokenTank07.address,
    tokenTank08.address,
  ]
  for (const address of addresses) {
    expect((await client.getCode({ address }))?.length).toBeGreaterThan(1000)
  }
  expect(await client.getCode({ address: deployed.tankFactory })).toBe(tankFactoryRuntime)
})

test('puts two tokens there that say what they are', async () => {
  expect(deployed.tokens.map(({ symbol, decimals }) => [symbol, decimals])).toEqual([
    ['tUSD', 6],
    ['tCOIN', 18],
  ])
  const abi = parseAbi([
    'function name() view returns (string)',
    'function symbol() view returns (string)',
    'function decimals() view returns (uint8)',
  ])
  for (const { address, ...token } of deployed.tokens) {
    expect({
      name: await client.readContract({ address, abi, functionName: 'name' }),
      symbol: await client.readContract({ address, abi, functionName: 'symbol' }),
      decimals: await client.readContract({ address, abi, functionName: 'decimals' }),
    }).toEqual(token)
  }
})

test('factories make accounts of their own EntryPoint', async () => {
  const abi = parseAbi([
    'function accountImplementation() view returns (address)',
    'function entryPoint() view returns (address)',
  ])
  const read = (address: Address, functionName: 'accountImplementation' | 'entryPoint') =>
    client.readContract({ address, abi, functionName })
  for (const version of devVersions) {
    const account = await read(deployed.factories[version]!, 'accountImplementation')
    const entryPoint = await read(account, 'entryPoint')
    expect(entryPoint.toLowerCase()).toBe(deployed.entryPoints[version])
  }
})

test('placed code is what its constructor would have left on this chain', async () => {
  const [entryPoint, , delegate] = devContracts('0.9').placements
  const domain = await client.readContract({
    address: deployed.entryPoints['0.9']!,
    abi: entryPoint09Abi,
    functionName: 'getDomainSeparatorV4',
  })
  // An EntryPoint computes its domain anew unless the one in its code is of this chain.
  expect(entryPoint!.code(CHAIN_ID)).toContain(domain.slice(2))
  expect(entryPoint!.code(CHAIN_ID)).not.toBe(entryPoint!.code(1))

  const { bytecode } = createRequire(import.meta.url)(
    'account-abstraction-v09-rc/artifacts/Simple7702Account.json',
  ) as { bytecode: Hex }
  const data = concatHex([bytecode, pad(deployed.entryPoints['0.9']!)])
  expect((await client.call({ data })).data).toBe(delegate!.code(CHAIN_ID))
})

test('adds what a chain of an older release lacks', async () => {
  const older = await startAnvil({ chainId: CHAIN_ID, logger })
  try {
    const { entryPoints } = await deployDevContracts(older.rpcUrl, ['0.6'])
    expect(Object.keys(entryPoints)).toEqual(['0.6'])
    expect(await deployDevContracts(older.rpcUrl)).toEqual(deployed)
  } finally {
    await older.stop()
  }
})

test('goes without v0.9 where the node places no code', async () => {
  const plain = await startAnvil({ chainId: CHAIN_ID, logger })
  const node = await startNodeWithout(plain.rpcUrl, ['anvil_setCode', 'hardhat_setCode'])
  try {
    const { entryPoints, absent } = await deployDevContracts(node.url)
    expect(Object.keys(entryPoints)).toEqual(['0.6', '0.7', '0.8'])
    expect(absent).toEqual([
      { version: '0.9', reason: expect.stringContaining('does not place code') },
    ])
  } finally {
    await node.stop()
    await plain.stop()
  }
})

test('changes nothing when all is there', async () => {
  const before = await client.getBlock()
  expect(await deployDevContracts(anvil.rpcUrl)).toEqual(deployed)
  expect((await client.getBlock()).hash).toBe(before.hash)
})

const fields = {
  sender: '0x00000000000000000000000000000000000a11ce' as Address,
  nonce: 7n,
  callData: '0x1234' as Hex,
  callGasLimit: 1n,
  verificationGasLimit: 2n,
  preVerificationGas: 3n,
  maxFeePerGas: 4n,
  maxPriorityFeePerGas: 5n,
  signature: '0x' as Hex,
}

test('EntryPoint v0.6 computes operation hashes', async () => {
  const entryPoint = deployed.entryPoints['0.6']!
  const op = { ...fields, initCode: '0x' as Hex, paymasterAndData: '0x' as Hex }
  const hash = await client.readContract({
    address: entryPoint,
    abi: entryPoint06Abi,
    functionName: 'getUserOpHash',
    args: [op],
  })
  expect(hash).toBe(
    getUserOperationHash({
      chainId: CHAIN_ID,
      entryPointAddress: entryPoint,
      entryPointVersion: '0.6',
      userOperation: op,
    }),
  )
})

test.each([
  ['0.7', entryPoint07Abi],
  ['0.8', entryPoint08Abi],
  ['0.9', entryPoint09Abi],
] as const)('EntryPoint v%s computes operation hashes', async (version, abi) => {
  const entryPoint = deployed.entryPoints[version]!
  const packed = {
    sender: fields.sender,
    nonce: fields.nonce,
    initCode: '0x',
    callData: fields.callData,
    accountGasLimits: `0x${'2'.padStart(32, '0')}${'1'.padStart(32, '0')}`,
    preVerificationGas: fields.preVerificationGas,
    gasFees: `0x${'5'.padStart(32, '0')}${'4'.padStart(32, '0')}`,
    paymasterAndData: '0x',
    signature: '0x',
  } as const
  const hash = await client.readContract({
    address: entryPoint,
    abi: abi as typeof entryPoint07Abi,
    functionName: 'getUserOpHash',
    args: [packed],
  })
  expect(hash).toBe(
    getUserOperationHash({
      chainId: CHAIN_ID,
      entryPointAddress: entryPoint,
      entryPointVersion: version,
      userOperation: fields,
    }),
  )
})

test('says so when the chain has no deterministic deployer', async () => {
  const bare = await startAnvil({ chainId: CHAIN_ID, logger })
  try {
    await anvilClient(bare.rpcUrl).setCode({ address: DETERMINISTIC_DEPLOYER, bytecode: '0x' })
    const failure = await deployDevContracts(bare.rpcUrl).catch((error) => error)
    expect(failure).toBeInstanceOf(DevChainError)
    expect(failure.message).toContain('no deterministic deployer')
  } finally {
    await bare.stop()
  }
})

test('funds an account by exactly what was asked', async () => {
  const address: Address = '0x00000000000000000000000000000000000f00d5'
  await fundAccount(anvil.rpcUrl, address, parseEther('0.1'))
  await fundAccount(anvil.rpcUrl, address, 3n)
  expect(await client.getBalance({ address })).toBe(parseEther('0.1') + 3n)
})

test("names anvil's own keys", async () => {
  const accounts = await client.request({ method: 'eth_accounts' } as never)
  const ours = Array.from({ length: 10 }, (_, index) => privateKeyToAddress(devKey(index)))
  expect(ours.map((address) => address.toLowerCase())).toEqual(accounts)
  expect(funderKey).toBe(devKey(9))
})
