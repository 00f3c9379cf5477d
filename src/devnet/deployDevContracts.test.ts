import { pino } from 'pino'
import { type Address, type Hex, parseEther } from 'viem'
import {
  entryPoint06Abi,
  entryPoint07Abi,
  entryPoint08Abi,
  getUserOperationHash,
} from 'viem/account-abstraction'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LATER_ENTRY_POINTS } from '../../test/support/laterEntryPoints.js'
import { DETERMINISTIC_DEPLOYER, TANK_06, TANK_07 } from '../contracts/deployments.js'
import { runtime as tankFactoryRuntime } from '../contracts/generated/TankFactory.js'
import { type AnvilClient, anvilClient } from './anvilClient.js'
import { type DeployedContracts, deployDevContracts } from './deployDevContracts.js'
import { DevChainError } from './devChainError.js'
import { ENTRY_POINT_SOURCES } from './devContracts.js'
import { devKey, FUNDER_KEY } from './devKeys.js'
import { fundAccount } from './fundAccount.js'
import { type Anvil, startAnvil } from './startAnvil.js'

const logger = pino({ level: 'silent' })
const CHAIN_ID = 31337
const SOURCES = [...ENTRY_POINT_SOURCES, ...LATER_ENTRY_POINTS]

let anvil: Anvil
let client: AnvilClient
let deployed: DeployedContracts

beforeAll(async () => {
  anvil = await startAnvil({ chainId: CHAIN_ID, logger })
  client = anvilClient(anvil.rpcUrl)
  deployed = await deployDevContracts(anvil.rpcUrl, SOURCES)
})

afterAll(() => anvil.stop())

test('puts EntryPoints and factories at their canonical addresses', async () => {
  expect(deployed.entryPoints).toEqual({
    '0.6': '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
    '0.7': '0x0000000071727de22e5e9d8baf0edac6f37da032',
    '0.8': '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  })
  expect(deployed.factories).toEqual({
    '0.6': '0x9406cc6185a346906296840746125a0e44976454',
    '0.7': '0x91e60e0613810449d098b0b5ec8b51a0fe8c8985',
    '0.8': '0x13e9ed32155810fdbd067d4522c492d6f68e5944',
  })
  const addresses = [
    ...Object.values(deployed.entryPoints),
    ...Object.values(deployed.factories),
    TANK_06.address,
    TANK_07.address,
  ]
  for (const address of addresses) {
    expect((await client.getCode({ address }))?.length).toBeGreaterThan(1000)
  }
  expect(await client.getCode({ address: deployed.tankFactory })).toBe(tankFactoryRuntime)
})

test('deploys only EntryPoint v0.6 unless told otherwise', async () => {
  const { entryPoints } = await deployDevContracts(anvil.rpcUrl)
  expect(Object.keys(entryPoints)).toEqual(['0.6'])
})

test('changes nothing when all is there', async () => {
  const before = await client.getBlock()
  expect(await deployDevContracts(anvil.rpcUrl, SOURCES)).toEqual(deployed)
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
  expect(FUNDER_KEY).toBe(devKey(9))
})
