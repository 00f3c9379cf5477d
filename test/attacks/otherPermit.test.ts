import {
  type Address,
  concatHex,
  createTestClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  numberToHex,
  parseUnits,
  sliceHex,
  zeroHash,
} from 'viem'
import { entryPoint08Abi, type SmartAccount, type UserOperation } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import type { DevToken } from '../../src/cli/devnet/devTokens.js'
import { result } from '../support/http/jsonRpc.js'
import { carryPastService } from '../support/service/carryPastService.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed } from '../support/service/devTokens.js'
import { fund, nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker, who has approved the tank before, asks with one permit and carries the operation with
 * another: it gets another userOpHash. The tank's signature covers the permit.
 */

const purser = useRunningPurser()

/** Bytes of the signature at the end of a permit. */
const PERMIT_SIGNATURE_BYTES = 65

/**
 * Lets `sender`, which is still to be created, approve the tank, as an operation of a deployed account
 * would. The nonce of a plain transaction is taken back, which would keep the factory from creating it.
 */
async function approve(info: DevInfo, sender: Address, token: Address, tank: Address) {
  const transport = http(info.rpcUrl)
  const tester = createTestClient({ mode: 'anvil', chain: foundry, transport })
  await fund(info, sender)
  await tester.impersonateAccount({ address: sender })
  const wallet = createWalletClient({ account: sender, chain: foundry, transport })
  const hash = await wallet.writeContract({
    abi: erc20Abi,
    address: token,
    functionName: 'approve',
    args: [tank, maxUint256],
  })
  await nodeClient(info).waitForTransactionReceipt({ hash })
  await tester.setNonce({ address: sender, nonce: 0 })
}

type Attack = {
  readonly tank: Address
  readonly token: DevToken
  readonly account: SmartAccount
}

describe.each(['0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  const victim = async (seed: string, tank: Address): Promise<Attack> => {
    const { info } = purser()
    const token = tokenNamed(info, 'tUSD')
    const account = await simpleSmartAccount(info, version, `${seed} ${version}`)
    await giveTokens(info, token, account.address, parseUnits('100', 6))
    await approve(info, account.address, token.address, tank)
    return { tank, token, account }
  }

  /** The operation that the account carries with another permit than it asked with. */
  const otherPermit = async ({ tank, token, account }: Attack): Promise<UserOperation<'0.7'>> => {
    const { info } = purser()
    const { factory, factoryData } = await account.getFactoryArgs()
    const callData = await account.encodeCalls([{ to: TARGET, value: 0n, data: '0x' as Hex }])
    const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
    const fields = { sender: account.address, factory, factoryData, callData }
    const signature = concatHex([zeroHash, zeroHash, '0x1b'])
    const answer = await result(info.standardUrl, 'pm_sponsorUserOperation', [
      {
        ...fields,
        nonce: '0x0',
        signature: await account.getStubSignature(),
        maxFeePerGas: numberToHex(fees.maxFeePerGas),
        maxPriorityFeePerGas: numberToHex(fees.maxPriorityFeePerGas),
      },
      info.entryPoints[version],
      { token: token.address, permit: { value: '0x1', deadline: '0x1', signature } },
    ])
    const data = answer.paymasterData as Hex
    const operation = {
      ...fields,
      ...fees,
      nonce: 0n,
      paymaster: tank,
      paymasterData: concatHex([
        sliceHex(data, 0, -PERMIT_SIGNATURE_BYTES),
        numberToHex(7n, { size: 32 }),
        zeroHash,
        '0x1b',
      ]),
      paymasterVerificationGasLimit: BigInt(answer.paymasterVerificationGasLimit),
      paymasterPostOpGasLimit: BigInt(answer.paymasterPostOpGasLimit),
      callGasLimit: BigInt(answer.callGasLimit),
      verificationGasLimit: BigInt(answer.verificationGasLimit),
      preVerificationGas: BigInt(answer.preVerificationGas),
      signature: '0x' as Hex,
    } as UserOperation<'0.7'>
    return { ...operation, signature: await account.signUserOperation(operation) }
  }

  test('is not paid for: the attacker gains 0 wei, the tank loses 0', async () => {
    const { info } = purser()
    const attack = await victim('bound permit', info.tokenTanks[version] as Address)
    const { address } = attack.account.entryPoint
    const depositOf = () =>
      nodeClient(info).readContract({
        address,
        abi: entryPoint08Abi,
        functionName: 'balanceOf',
        args: [attack.tank],
      })
    const before = await depositOf()
    const carried = carryPastService(info, await otherPermit(attack), address)
    await expect(carried).rejects.toThrow(/AA34 signature error/)
    expect(before - (await depositOf())).toBe(0n)
  })
})
