import { type Address, encodeFunctionData, erc20Abi, type Hex, maxUint256, size, slice } from 'viem'
import { toInterfaceOperation } from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { result } from '../http/jsonRpc.js'
import { type ClientView, devAccount } from './devAccount.js'

/** An estimated and signed operation, in which the account of `seed` approves the token tank and pays it. */
export async function paidInTokens(
  info: ClientView,
  seed: string,
  { address, tank }: { readonly address: Address; readonly tank: Address },
): Promise<Operation> {
  const { account, withGas, sign } = await devAccount(info, seed)
  const fees = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
  const args = [tank, maxUint256] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  const draft = withGas(await account.draft({ to: address, data }), fees)
  const tokenInfo = { feeTokenAddress: address }
  const mode = { mode: 'ERC20', calculateGasLimits: true, tokenInfo }
  const answer = await result(info.paymasterUrl, 'pm_sponsorUserOperation', [
    toInterfaceOperation(draft),
    mode,
  ])
  const signed: Hex = answer.paymasterAndData
  if (size(signed) < 20) throw new Error(`no payment in tokens: ${JSON.stringify(answer)}`)
  const paymaster = slice(signed, 0, 20)
  return sign({ ...withGas(draft, answer), paymaster, paymasterData: slice(signed, 20) })
}
