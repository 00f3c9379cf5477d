import { encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { creationStep, depositInto, withdrawFrom } from './transfers.js'

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function withdrawTo(address to, uint256 amount)',
])
const tank = { address: `0x${'Ab'.repeat(20)}`, entryPoint: `0x${'01'.repeat(20)}` } as const
const to = `0x${'0c'.repeat(20)}` as const
const lower = tank.address.toLowerCase() as `0x${string}`

test('a deposit is the call that viem encodes, with the value', () => {
  const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [lower] })
  expect(depositInto(tank, 5n)).toEqual({ to: tank.entryPoint, data, value: 5n })
})

test.each([0n, 1n, 10n ** 18n, 2n ** 256n - 1n])(
  'a withdrawal of %s wei is the call that viem encodes',
  (wei) => {
    const data = encodeFunctionData({ abi, functionName: 'withdrawTo', args: [to, wei] })
    expect(withdrawFrom(tank, to, wei)).toEqual({ to: tank.address, data, value: 0n })
  },
)

test('a step that makes a tank is what TankFactory takes, of this owner, and nothing else is sent', () => {
  const factoryAbi = parseAbi([
    'function create(address implementation, address entryPoint, address owner, address signer, address second, bytes32 salt)',
  ])
  const args = [lower, lower, to, lower, lower, `0x${'00'.repeat(32)}`] as const
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'create', args })
  const step = { puts: 'tank', to: tank.entryPoint, data } as const
  expect(creationStep(step, to)).toEqual({ to: step.to, data, value: 0n })
  const thief = `0x${'0d'.repeat(20)}`
  const approve = parseAbi(['function approve(address spender, uint256 amount)'])
  const theft = encodeFunctionData({ abi: approve, functionName: 'approve', args: [to, 1n] })
  expect(() => creationStep(step, thief)).toThrow('makes no tank')
  expect(() => creationStep({ ...step, data: theft }, to)).toThrow('makes no tank')
  expect(() => creationStep({ ...step, puts: 'code', data: theft }, to)).toThrow('makes no tank')
  const deployer = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
  expect(creationStep({ puts: 'code', to: deployer, data: '0x12' }, to).value).toBe(0n)
})

test('what is no address is never encoded', () => {
  expect(() => withdrawFrom(tank, '0x12', 1n)).toThrow('no address')
})
