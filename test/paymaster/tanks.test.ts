import { randomBytes } from 'node:crypto'
import { type Address, encodeFunctionData, parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { beforeEach, describe, expect, test } from 'vitest'
import { tank06 } from '../../src/chain/contracts/deployments.js'
import { abi as tankAbi } from '../../src/chain/contracts/generated/Tank06.js'
import { abi as factoryAbi } from '../../src/chain/contracts/generated/TankFactory.js'
import { ethCall } from '../../src/chain/ethCall.js'
import { getBalance } from '../../src/chain/nodeReads.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { findTank } from '../../src/paymaster/ledger/tanks.js'
import { SIGNER_PURPOSE } from '../../src/paymaster/tank/signForTank.js'
import { createTanks, type Tanks } from '../../src/paymaster/tanks.js'
import { decryptSecret } from '../../src/tenants/secrets.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { chainId, useChain } from '../support/chain/useChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'

const testDatabase = useDatabase()
const chain = useChain()

const masterKey = randomBytes(32)
const ownerKey = devKey(1)
const strangerKey = devKey(2)
const owner = privateKeyToAddress(ownerKey).toLowerCase() as Address
const nobody: Address = `0x${'ab'.repeat(20)}`

function tanksWith(tankFactory: Address): Tanks {
  return createTanks({
    database: testDatabase().database,
    masterKey,
    node: chain().node,
    definition: { chainId, pollInterval: 20, tankFactory },
  })
}

let tanks: Tanks
let appId = ''

beforeEach(async () => {
  tanks = tanksWith(chain().tankFactory)
  appId = await createApp(testDatabase().database)
})

describe('ensure', () => {
  test('names a tank at the address that the factory predicts', async () => {
    const tank = await tanks.ensure(appId, chain().entryPoint, owner)
    const data = encodeFunctionData({
      abi: factoryAbi,
      functionName: 'predict',
      args: [
        tank06.address,
        chain().entryPoint.address,
        owner,
        tank.signer,
        `0x${'00'.repeat(20)}`,
        `0x${'00'.repeat(32)}`,
      ],
    })
    const outcome = await ethCall(chain().node, { to: chain().tankFactory, data })
    expect(outcome.ok && `0x${outcome.data.slice(-40)}`).toBe(tank.address)
    expect(tank.owner).toBe(owner)
  })

  test('keeps the key of its signer, encrypted', async () => {
    const tank = await tanks.ensure(appId, chain().entryPoint, owner)
    const { database } = testDatabase()
    const stored = await findTank(database, appId, chainId, chain().entryPoint.address, 'gas')
    const sealed = stored?.signer_key ?? Buffer.alloc(0)
    const key = decryptSecret(masterKey, SIGNER_PURPOSE, sealed) as `0x${string}`
    expect(privateKeyToAddress(key).toLowerCase()).toBe(tank.signer)
    expect(sealed.includes(Buffer.from(key.slice(2), 'hex'))).toBe(false)
    expect(sealed.includes(key)).toBe(false)
  })

  test('is the same tank for ever, also when asked several times at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 5 }, () => tanks.ensure(appId, chain().entryPoint, owner)),
    )
    const again = await tanks.ensure(appId, chain().entryPoint, nobody)
    for (const tank of all) expect(tank).toEqual(again)
    const other = await createApp(testDatabase().database)
    expect((await tanks.ensure(other, chain().entryPoint, owner)).address).not.toBe(again.address)
  })
})

describe('deploy', () => {
  test('puts the tank on the chain with its owner and signer, and only once', async () => {
    const tank = await tanks.ensure(appId, chain().entryPoint, owner)
    expect((await tanks.show(appId, chain().entryPoint))?.deployed).toBe(false)
    await tanks.deploy(tank, chain().entryPoint, localSigner(strangerKey))
    await tanks.deploy(tank, chain().entryPoint, localSigner(strangerKey))
    expect((await tanks.show(appId, chain().entryPoint))?.deployed).toBe(true)
    const read = async (functionName: 'owner' | 'signers' | 'entryPoint') => {
      const data = encodeFunctionData({ abi: tankAbi, functionName })
      const outcome = await ethCall(chain().node, { to: tank.address, data })
      return outcome.ok ? outcome.data : ''
    }
    expect(await read('owner')).toContain(owner.slice(2))
    expect(await read('signers')).toContain(tank.signer.slice(2))
    expect(await read('entryPoint')).toContain(chain().entryPoint.address.slice(2))
  })

  test('tells when the chain has no factory', async () => {
    const lost = tanksWith(nobody)
    const tank = await lost.ensure(appId, chain().entryPoint, owner)
    const deploying = lost.deploy(tank, chain().entryPoint, localSigner(ownerKey))
    await expect(deploying).rejects.toThrow(/no TankFactory/i)
    await expect(tanks.deploy(tank, chain().entryPoint, localSigner(ownerKey))).rejects.toThrow(
      /another TankFactory/,
    )
  })
})

describe('deposit and withdraw', () => {
  test('anyone fills the tank, before or after it is deployed, to the wei', async () => {
    const tank = await tanks.ensure(appId, chain().entryPoint, owner)
    await tanks.deposit(tank, 1n, localSigner(strangerKey))
    await tanks.deploy(tank, chain().entryPoint, localSigner(strangerKey))
    await tanks.deposit(tank, parseEther('1'), localSigner(ownerKey))
    expect((await tanks.show(appId, chain().entryPoint))?.deposit).toBe(parseEther('1') + 1n)
  })

  test('the owner, and nobody else, empties it', async () => {
    const tank = await tanks.ensure(appId, chain().entryPoint, owner)
    await tanks.deploy(tank, chain().entryPoint, localSigner(ownerKey))
    await tanks.deposit(tank, 1_000n, localSigner(ownerKey))
    await expect(tanks.withdraw(tank, nobody, 1n, 0n, localSigner(strangerKey))).rejects.toThrow(
      /Only the owner/,
    )
    await expect(tanks.withdraw(tank, nobody, 1_001n, 0n, localSigner(ownerKey))).rejects.toThrow(
      /has 0\.000000000000001 of .* less than 0\.000000000000001001\./,
    )
    const reserved = tanks.withdraw(tank, nobody, 601n, 400n, localSigner(ownerKey))
    await expect(reserved).rejects.toThrow(/0\.0000000000000006 is free/)
    const before = await getBalance(chain().node, nobody)
    await tanks.withdraw(tank, nobody, 900n, 0n, localSigner(ownerKey))
    expect((await getBalance(chain().node, nobody)) - before).toBe(900n)
    expect((await tanks.show(appId, chain().entryPoint))?.deposit).toBe(100n)
  })

  test('an app without a tank has nothing to show', async () => {
    expect(await tanks.show(appId, chain().entryPoint)).toBeUndefined()
  })
})
