import { type Address, encodeFunctionData, type Hex, keccak256, pad, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import {
  BLOCK,
  createMemoryChain,
  type MemoryChain,
  operationOf,
  simpleAccountOf,
  VERSIONS,
} from '../../../test/support/erc7562/memoryChain.js'
import { checkRun, requireSuccess } from '../../../test/support/erc7562/ruleFixture.js'
import { tank06, tank07, tankFactoryAddress } from '../../chain/contracts/deployments.js'
import { abi as tankFactoryAbi } from '../../chain/contracts/generated/TankFactory.js'
import { sponsorshipHash } from '../../paymaster/tank/sponsorshipHash.js'
import { encodeTankData } from '../../paymaster/tank/tankData.js'
import type { Operation } from '../operation.js'
import { limitProfiles, type Verdict } from './index.js'

const OWNER = keccak256('0x01')
const signer = privateKeyToAccount(keccak256('0x02'))
const FOREVER = { validAfter: 0, validUntil: 0 }
const canonical = { limits: limitProfiles.canonical }

/** A tank of the chain's EntryPoint version, with a deposit. */
function createTank(chain: MemoryChain): Address {
  const { deployData, address } = chain.version === '0.6' ? tank06 : tank07
  for (const data of [tankFactoryAddress.deployData, deployData]) {
    chain.create2(`0x${data.slice(66)}`)
  }
  const ep = chain.entryPoint.address
  const args = [address, ep, signer.address, signer.address, signer.address, zeroHash] as const
  const data = encodeFunctionData({ abi: tankFactoryAbi, functionName: 'create', args })
  const tank: Address = `0x${chain.send(tankFactoryAddress.address, data).slice(-40)}`
  chain.deposit(tank)
  return tank
}

async function sponsor(chain: MemoryChain, op: Operation, paymaster: Address): Promise<Operation> {
  const paymasterVerificationGasLimit = chain.version === '0.6' ? 0n : 100_000n
  const paid = { ...op, paymaster, paymasterVerificationGasLimit }
  const hash = sponsorshipHash(paid, chain.entryPoint, Number(BLOCK.chainId), FOREVER)
  const paymasterData = encodeTankData(FOREVER, await signer.sign({ hash }))
  return { ...paid, paymasterData }
}

describe.each(VERSIONS)('a SimpleAccount on EntryPoint v%s, all unstaked', (version) => {
  const chain = createMemoryChain(version)
  const account = simpleAccountOf(chain, OWNER)
  const tank = createTank(chain)
  chain.deposit(account.address)

  const creation = { factory: account.factory, factoryData: account.factoryData }
  const draft = (fields: Partial<Operation> = {}) =>
    operationOf(account.address, { verificationGasLimit: 450_000n, ...fields })
  const checkHandled = (op: Operation): Verdict =>
    checkRun(chain, op, requireSuccess(chain, chain.handleOps(op)), canonical)

  /** Its creation, sponsored, as a transaction: what follows meets the account. */
  const deployed = (async () => {
    const op = await account.sign(await sponsor(chain, draft(creation), tank))
    const verdict = checkHandled(op)
    const data = chain.entryPoint.encodeHandleOps([op], signer.address)
    chain.send(chain.entryPoint.address, data)
    return verdict
  })()

  it('breaks no canonical rule when a tank pays for its creation', async () => {
    const { violations, entities, visitedCode, accessed, contextSize } = await deployed
    expect(violations).toEqual([])
    expect(entities.map(({ role, staked }) => [role, staked])).toEqual([
      ['factory', false],
      ['account', false],
      ['paymaster', false],
    ])
    for (const { gasUsed } of entities) expect(gasUsed).toBeGreaterThan(2_000)
    expect(Object.fromEntries(visitedCode)).toMatchObject({
      [account.factory]: { role: 'factory' },
      [account.address]: { role: 'factory' },
      [tank]: { role: 'paymaster' },
      [(version === '0.6' ? tank06 : tank07).address]: { role: 'paymaster' },
    })
    expect(visitedCode.has(chain.entryPoint.address)).toBe(false)
    expect([...accessed.writes.keys()]).toEqual([account.address])
    expect(contextSize).toBe(0)
  })

  it('breaks none when it exists, with the tank and without', async () => {
    await deployed
    const selfPaid = await account.sign(draft({ nonce: 1n }))
    expect(checkHandled(selfPaid).violations).toEqual([])
    const sponsored = await account.sign(await sponsor(chain, draft({ nonce: 1n }), tank))
    const { violations, entities } = checkHandled(sponsored)
    expect(violations).toEqual([])
    expect(entities.map(({ address }) => address)).toEqual([account.address, tank])
  })

  it('is checked as far as it came when validation fails', async () => {
    await deployed
    const stub: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`
    const op = await sponsor(chain, draft({ nonce: 9n, signature: stub }), tank)
    const verdict = checkRun(chain, op, chain.handleOps(op), canonical)
    expect(verdict.entities.map(({ role }) => role)).toEqual(['account'])
    expect(verdict.violations).toEqual([])
  })

  it('is not checked by a run of anything else', () => {
    const run = chain.record(tank, pad('0x', { size: 4 }))
    expect(() => checkRun(chain, draft(), run)).toThrow('not one of the EntryPoint')
  })
})
