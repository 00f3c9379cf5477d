import { type Address, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  DETERMINISTIC_DEPLOYER,
  tank07,
  tankFactoryAddress,
} from '../../src/chain/contracts/deployments.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { getBalance, getCode } from '../../src/chain/nodeReads.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type Anvil, startAnvil } from '../../src/cli/devnet/startAnvil.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { deployContracts, planContracts } from '../../src/paymaster/contractPlan.js'
import { silent } from '../support/logger.js'
import { makeDataFolder, removeDataFolder, runCli } from '../support/service/startPurser.js'

const chainId = 71_101
const payer: Address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
let anvil: Anvil
let node: NodeClient
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ chainId, logger: silent })
  node = createNodeClient({ urls: [anvil.rpcUrl], logger: silent })
  folder = makeDataFolder()
})
afterAll(async () => {
  await node?.close()
  await anvil?.stop()
  removeDataFolder(folder)
})

function cli(...words: string[]) {
  const chains = JSON.stringify([{ chainId, rpcUrls: [anvil.rpcUrl], facts: { pollInterval: 50 } }])
  const environment = { PURSER_CHAINS: chains, PAYER: devKey(1), POOR: `0x${'12'.repeat(32)}` }
  const flags = ['--data', folder, '--chain', String(chainId)]
  return runCli(['contracts', 'deploy', ...flags, ...words], environment)
}

test('a dry run changes nothing; deploying costs no more than it said; a second run finds all there', async () => {
  const before = await node.head()
  const dry = await cli()
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toMatch(/missing .* tank factory/)
  expect(dry.stdout).toContain(tank07.address)
  expect(await node.head()).toEqual(before)
  expect(await cli('--send')).toMatchObject({ code: 1, stderr: expect.stringContaining('--key') })
  const poor = await cli('--key', 'env:POOR', '--send')
  expect(poor).toMatchObject({ code: 1, stderr: expect.stringContaining('fund it') })
  expect(await node.head()).toEqual(before)

  const plan = await planContracts({ node, definition: { chainId, dataFee: 'none' } })
  expect(plan.contracts.filter(({ missing }) => missing)).toHaveLength(6)
  expect(plan.cost).toBeLessThan(parseEther('1'))
  const money = await getBalance(node, payer)
  const sent = await cli('--key', 'env:PAYER', '--send')
  expect(sent).toMatchObject({ code: 0, stderr: '' })
  expect(sent.stdout.match(/^deployed /gm)).toHaveLength(6)
  expect(money - (await getBalance(node, payer))).toBeLessThanOrEqual(plan.cost)
  for (const { address } of plan.contracts) expect(await getCode(node, address)).not.toBe('0x')
  expect(await getCode(node, tankFactoryAddress.address)).not.toBe('0x')

  const again = await planContracts({ node, definition: { chainId, dataFee: 'none' } })
  expect(again).toMatchObject({ cost: 0n })
  const head = await node.head()
  const context = { node, definition: { chainId, pollInterval: 50 } }
  await deployContracts(context, again, localSigner(devKey(1)), () => expect.unreachable())
  expect(await node.head()).toEqual(head)
})

test('a chain without the deterministic deployer fails with an explanation', async () => {
  const code = await getCode(node, DETERMINISTIC_DEPLOYER)
  await node.request('anvil_setCode', [DETERMINISTIC_DEPLOYER, '0x'])
  const { code: exitCode, stderr } = await cli()
  await node.request('anvil_setCode', [DETERMINISTIC_DEPLOYER, code])
  expect(exitCode).toBe(1)
  expect(stderr).toContain(`Chain ${chainId} lacks the deployer`)
})
