import { toSafeSmartAccount } from 'permissionless/accounts'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  parseUnits,
} from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  formatUserOperationRequest,
  type SmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { beforeAll, expect, test } from 'vitest'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import { rpc } from '../../support/http/jsonRpc.js'
import { TARGET } from '../../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../../support/service/devTokens.js'
import { nodeClient } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'
import { placeSafe } from '../support/placeSafe.js'

/* Where a real Safe approves the token tank: nowhere yet, in the setup that creates it, or in a call. */

const info = usePurser()
beforeAll(() => placeSafe(info().rpcUrl))

const token = () => tokenNamed(info(), 'tUSD')
const tank = () => info().tokenTanks['0.7'] as Address

function approval(amount: bigint): { to: Address; value: bigint; data: Hex } {
  const args = [tank(), amount] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  return { to: token().address, value: 0n, data }
}

/** A Safe that does not exist yet, with tokens; it makes `setup` when it is created. */
async function open(name: string, setup: readonly ReturnType<typeof approval>[]) {
  const account = (await toSafeSmartAccount({
    client: nodeClient(info()),
    entryPoint: { address: info().entryPoints['0.7'] as Address, version: '0.7' },
    version: '1.4.1',
    owners: [privateKeyToAccount(keyFromSeed(`token approvals, ${name}`))],
    setupTransactions: setup,
  } as never)) as SmartAccount
  await giveTokens(info(), token(), account.address, parseUnits('500', 6))
  return account
}

/** Asks as ERC-7677 has it, for an operation that makes `calls`. */
async function ask(
  account: SmartAccount,
  method: string,
  calls: readonly { to: Address; data?: Hex }[],
) {
  const { standard } = (await rpc(info().standardUrl, 'biconomy_getGasFeeValues', [])).body.result
  const operation = {
    sender: account.address,
    nonce: await account.getNonce(),
    ...(await account.getFactoryArgs()),
    callData: await account.encodeCalls([...calls]),
    maxFeePerGas: BigInt(standard.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(standard.maxPriorityFeePerGas),
    signature: await account.getStubSignature(),
  }
  const json = formatUserOperationRequest(operation as UserOperation)
  const params = [json, account.entryPoint.address, '0x7a69', { token: token().address }]
  return (await rpc(info().standardUrl, method, params)).body
}

const plain = [{ to: TARGET, data: '0x1234' as Hex }]

test('a client learns the tank from the stub, before it has approved anything', async () => {
  const account = await open('nowhere', [])
  const { result } = await ask(account, 'pm_getPaymasterStubData', plain)
  expect(result.paymaster.toLowerCase()).toBe(tank())
  const { error } = await ask(account, 'pm_getPaymasterData', plain)
  expect(error?.data).toMatchObject({ code: 'TOKEN_ALLOWANCE_TOO_LOW' })
  expect(error?.message).toContain(tank())
})

test('an approval in the setup of the Safe pays for its first operation', async () => {
  const account = await open('in the setup', [approval(parseUnits('400', 6))])
  const transport = http(info().standardUrl)
  const client = createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport,
    paymaster: createPaymasterClient({ transport }),
    paymasterContext: { token: token().address },
  })
  for (let count = 0; count < 2; count++) {
    const before = await tokensOf(info(), token(), account.address)
    const hash = await client.sendUserOperation({ account, calls: plain })
    const { success, paymaster } = await client.waitForUserOperationReceipt({ hash })
    expect({ success, paymaster: paymaster?.toLowerCase() }).toEqual({
      success: true,
      paymaster: tank(),
    })
    expect(await tokensOf(info(), token(), account.address)).toBeLessThan(before)
  }
})

test('an approval in the setup that the operation takes back is refused after the run', async () => {
  const account = await open('taken back', [approval(maxUint256)])
  const { error } = await ask(account, 'pm_getPaymasterData', [approval(0n)])
  expect(error?.data).toMatchObject({ code: 'TOKEN_ALLOWANCE_TOO_LOW' })
})

test('an approval in the setup of too little is refused after the run', async () => {
  const account = await open('too little', [approval(1_000n)])
  const { error } = await ask(account, 'pm_getPaymasterData', plain)
  expect(error?.data.code).toMatch(/^(CHARGE_FAILS|TOKEN_ALLOWANCE_TOO_LOW)$/)
})
