import { type Address, encodeFunctionData, parseUnits } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { tokenAbi, useTokenTankChain } from '../support/tanks/tokenTankChain.js'

const ANYBODY: Address = '0x0000000000000000000000000000000000000b0b'

const chain = useTokenTankChain('0.6')

afterAll(() => chain().anvil.stop())

test('the faucet gives anybody up to ten thousand tokens at a time', async () => {
  for (const { address, decimals } of chain().tokens) {
    const most = parseUnits('10000', decimals)
    await chain().mint(address, ANYBODY, most)
    expect(await chain().balanceOf(address, ANYBODY)).toBe(most)
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'faucet',
      args: [ANYBODY, most + 1n],
    })
    await expect(chain().wallet.call({ to: address, data })).rejects.toThrow(/revert/)
  }
})
