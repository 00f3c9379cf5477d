import { readFileSync } from 'node:fs'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  zeroAddress,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { DETERMINISTIC_DEPLOYER, deployment } from '../../../src/chain/contracts/deployments.js'
import { devTokens } from '../../../src/cli/devnet/devTokens.js'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { signTokenPayment } from '../../../src/paymaster/createTokenPaymaster.js'
import { tankImplementations } from '../../../src/paymaster/tank/tankAddress.js'
import type { Permit, TokenQuote } from '../../../src/paymaster/tokenData.js'
import { compileSolidity } from '../chain/compileSolidity.js'
import { lower, SIGNER_A, type VersionChain } from '../world/versionChain.js'
import { useVersionChain } from '../world.js'

function source(name: string): string {
  return readFileSync(new URL(`../contracts/${name}.sol`, import.meta.url), 'utf8')
}

const contracts = {
  ...compileSolidity(source('TokenUser')),
  ...compileSolidity(source('OddTokens')),
}

export type OddToken = 'PlainToken' | 'SilentToken' | 'FeeToken' | 'HookToken' | 'BlockingToken'

/** One call that a TokenUser makes. */
export type UserCall = { readonly to: Address; readonly data: Hex }

export const tokenAbi = parseAbi([
  'function faucet(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address account) view returns (uint256)',
  'function listen()',
  'function setBlocked(address account, bool isBlocked, uint8 refusal)',
])

export const userAbi = parseAbi([
  'struct Call { address to; bytes data; }',
  'function run(Call[] calls, uint256 leave, uint256 revertSize)',
  'function setHook(Call hook, bool burns)',
  'function setValidationLeaves(uint256 gas)',
])

/** 1,000,000 units of a 6-decimals token for 1 ether, times 3,000. */
export const RATE = 3_000_000_000n

export function approval(token: Address, spender: Address, amount = 2n ** 256n - 1n): UserCall {
  return {
    to: token,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, amount] }),
  }
}

export function transfer(token: Address, to: Address, amount: bigint): UserCall {
  return {
    to: token,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, amount] }),
  }
}

/** The acts of an operation's account: its calls, then burning gas until `leave`, then a revert. */
export function runs(calls: readonly UserCall[], leave = 0n, revertSize = 0n): Hex {
  return encodeFunctionData({ abi: userAbi, functionName: 'run', args: [calls, leave, revertSize] })
}

/** The reaction of a TokenUser to a transfer of tokens: a call, and burning all gas. */
export function hooking(user: Address, hook: UserCall, burns = false): Hex {
  return runs([
    {
      to: user,
      data: encodeFunctionData({ abi: userAbi, functionName: 'setHook', args: [hook, burns] }),
    },
  ])
}

/** Makes a HookToken tell its caller that tokens move. */
export function listening(token: Address): UserCall {
  return {
    to: token,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'listen' }),
  }
}

/** Makes a BlockingToken refuse `account`, in one of its ways. */
export function blocking(token: Address, account: Address, refusal: number): UserCall {
  return {
    to: token,
    data: encodeFunctionData({
      abi: tokenAbi,
      functionName: 'setBlocked',
      args: [account, true, refusal],
    }),
  }
}

/** What tests of token tanks do on a chain. */
export function tokenTankChain(chain: VersionChain) {
  const { version, chainId, tester, wallet, entryPoint, transact } = chain
  const implementation = tankImplementations.token[version].address

  const deployOdd = async (name: OddToken): Promise<Address> => {
    const { address, deployData } = deployment(contracts[name]!.bytecode)
    await transact(DETERMINISTIC_DEPLOYER, deployData)
    return address
  }

  const balanceOf = (token: Address, account: Address): Promise<bigint> =>
    wallet.readContract({
      address: token,
      abi: tokenAbi,
      functionName: 'balanceOf',
      args: [account],
    })

  const mint = (token: Address, to: Address, amount: bigint) =>
    transact(
      token,
      encodeFunctionData({ abi: tokenAbi, functionName: 'faucet', args: [to, amount] }),
    )

  /** Makes the address of `seed`'s key an account with `amount` of `token`, and gives the address. */
  const createUser = async (seed: string, token: Address, amount = 10n ** 9n): Promise<Address> => {
    const address = lower(privateKeyToAddress(keyFromSeed(seed)))
    await tester.setCode({
      address,
      bytecode: contracts.TokenUser!.runtime,
    })
    await mint(token, address, amount)
    return address
  }

  /** One TokenUser for all nodes, also for those that place no code, with `amount` of `token`. */
  const deployUser = async (token: Address, amount = 10n ** 10n): Promise<Address> => {
    const { address, deployData } = deployment(contracts.TokenUser!.bytecode)
    if ((await tester.getCode({ address })) === undefined)
      await transact(DETERMINISTIC_DEPLOYER, deployData)
    await mint(token, lower(address), amount)
    return lower(address)
  }

  /** A transaction of `account` itself, as one that has a key would send it. */
  const asUser = async (account: Address, { to, data }: UserCall) => {
    const anvil = tester
    await anvil.setBalance({ address: account, value: 10n ** 18n })
    await anvil.impersonateAccount({ address: account })
    const request = { from: account, to, data, gas: numberToHex(1_000_000) }
    const hash = (await anvil.request({
      method: 'eth_sendTransaction',
      params: [request],
    } as never)) as Hex
    const { status } = await wallet.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`${account} could not call ${to}`)
  }

  const setValidationLeaves = (account: Address, gas: bigint) =>
    transact(
      account,
      encodeFunctionData({ abi: userAbi, functionName: 'setValidationLeaves', args: [gas] }),
    )

  /** An operation of a TokenUser, with generous limits, for `tank` to pay. */
  const userOp = async (sender: Address, tank: Address, callData: Hex): Promise<Operation> => {
    const nonceAbi = parseAbi(['function getNonce(address, uint192) view returns (uint256)'])
    const nonce = await wallet.readContract({
      address: entryPoint.address,
      abi: nonceAbi,
      functionName: 'getNonce',
      args: [sender, 0n],
    })
    return {
      sender,
      nonce,
      callData,
      factory: undefined,
      factoryData: '0x',
      signature: '0x',
      callGasLimit: 100_000n,
      verificationGasLimit: 300_000n,
      preVerificationGas: 60_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      paymaster: tank,
      paymasterVerificationGasLimit: version === '0.6' ? 0n : 200_000n,
      paymasterPostOpGasLimit: version === '0.6' ? 0n : 100_000n,
      paymasterData: '0x',
      authorization: undefined,
    }
  }

  /** A quote over 100,000 gas for postOp, at RATE without markup, kept by the tank, without end. */
  const quoteFor = (token: Address, terms: Partial<TokenQuote> = {}): TokenQuote => ({
    mode: 'prefund',
    token,
    rate: RATE,
    markup: 1_000_000,
    postOpGas: 100_000n,
    treasury: zeroAddress,
    validUntil: 0,
    validAfter: 0,
    ...terms,
  })

  /** The operation with what the tank's signer signs for it. */
  const pay = (op: Operation, quote: TokenQuote, permit?: Permit): Operation =>
    signTokenPayment(
      {
        ...op,
        paymaster: op.paymaster!,
        paymasterPostOpGasLimit: version === '0.6' ? 0n : quote.postOpGas,
      },
      { entryPoint, chainId },
      { quote, permit },
      { address: lower(privateKeyToAddress(SIGNER_A)), key: SIGNER_A },
    )

  return {
    ...chain,
    tokens: devTokens,
    createTokenTank: (salt: number, wei = 10n ** 18n) =>
      chain.createTank(salt, { wei, runs: implementation }),
    deployOdd,
    balanceOf,
    mint,
    createUser,
    deployUser,
    setValidationLeaves,
    asUser,
    userOp,
    quoteFor,
    pay,
  }
}

/** As above, on a chain of its own for all tests of a file or a `describe`. */
export function useTokenTankChain(version: Version): () => TokenTankChain {
  const chain = useVersionChain(version)
  let made: TokenTankChain | undefined
  return () => {
    made ??= tokenTankChain(chain())
    return made
  }
}

export type TokenTankChain = ReturnType<typeof tokenTankChain>
