import {
  type Address,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  getCreate2Address,
  type Hex,
  http,
  numberToHex,
  parseAbi,
  parseGwei,
  parseUnits,
  publicActions,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { giveTokens } from '../support/service/devTokens.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * The deployment of an account that takes tokens may approve the tank in its setup (D-115, D-138). The
 * attacker's accounts look at the token meanwhile and cannot be created once a slot there has changed: he
 * waits until bundles with them are signed and changes the slot before they are mined, by one transfer. Each bundle
 * then reverts at the executor's cost, and all other pooled operations of the kind are void at once.
 */

const info = usePurser()
let folder: string
let service: RunningService | undefined
let tank: Address
let token: Address
let standardUrl = ''

const executorKey = devKey(2)

/**
 * A service with the stakes of public chains, on the chain of the development service, which has none: there
 * every factory counts as staked and may read what it likes.
 */
beforeAll(async () => {
  const { chainId, rpcUrl, entryPoints, tokens } = info()
  const [tUSD] = tokens
  token = tUSD!.address
  folder = makeDataFolder()
  const { appId, apiKey } = await createTenant(folder, 'switched token')
  const chain = {
    chainId,
    rpcUrls: [rpcUrl],
    entryPoints: [{ version: '0.7', address: entryPoints['0.7'] }],
    executorKeys: ['env:EXECUTOR'],
    facts: { pollInterval: 50 },
    tokens: [{ ...tUSD, sources: [{ fixed: '3000' }], markup: 1_050_000, maxExposure: '100000' }],
  }
  const environment = {
    PURSER_CHAINS: JSON.stringify([chain]),
    EXECUTOR: executorKey,
    PAYER: devKey(1),
  }
  const { answer } = commandsOn(folder, environment)
  const flags = [
    '--app',
    appId,
    '--chain',
    String(chainId),
    '--entry-point',
    '0.7',
    '--kind',
    'token',
    '--amount',
    '1',
  ]
  const deposited = await answer('tank', 'deposit', ...flags, '--key', 'env:PAYER')
  tank = labelled(deposited, 'tank') as Address
  service = await startService(['serve', '--data', folder, '--port', '0'], environment)
  standardUrl = `${urlOf(service)}/api/v3/${chainId}/${apiKey}`
})

afterAll(async () => {
  await service?.end('SIGTERM')
  removeDataFolder(folder)
})

const SWITCH_GAS_PRICE = parseGwei('200')

const { SwitchFactory, SwitchAccount } = compileSolidity(`
interface Token {
    function balanceOf(address) external view returns (uint256);
    function allowance(address, address) external view returns (uint256);
    function approve(address, uint256) external returns (bool);
    function transfer(address, uint256) external returns (bool);
}

contract SwitchAccount {
    constructor(Token token, address tank, address watched, uint256 look) {
        token.approve(tank, type(uint256).max);
        if (look == 1) require(token.balanceOf(watched) == 0, "switched");
        if (look == 2) require(token.allowance(watched, tank) == 0, "switched");
        if (look == 3) require(token.transfer(tank, 1) && token.balanceOf(watched) == 0, "switched");
    }
    fallback(bytes calldata) external payable returns (bytes memory) { return abi.encode(0); }
}

contract SwitchFactory {
    function create(bytes32 salt, Token token, address tank, address watched, uint256 look)
        external returns (address)
    {
        if (look == 4) require(token.balanceOf(watched) == 0, "switched");
        return address(new SwitchAccount{salt: salt}(token, tank, watched, look));
    }
}
`)
const factoryAbi = parseAbi([
  'function create(bytes32 salt, address token, address tank, address watched, uint256 look)',
])
const switchAbi = parseAbi([
  'function faucet(address to, uint256 amount)',
  'function approve(address to, uint256 amount)',
])
const executor = privateKeyToAccount(executorKey).address

function chain() {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(info().rpcUrl) }).extend(
    publicActions,
  )
}

function walletOf(account: PrivateKeyAccount) {
  return createWalletClient({ account, chain: foundry, transport: http(info().rpcUrl) })
}

/** wei of the executor */
function wealth(): Promise<bigint> {
  return chain().getBalance({ address: executor })
}

/** Whether a bundle waits for a block. */
async function hasPendingBundle(): Promise<boolean> {
  const { pending } = (await chain().request({ method: 'txpool_content' } as never)) as Json
  const senders = Object.keys(pending).map((address) => address.toLowerCase())
  return senders.includes(executor.toLowerCase())
}

/** Each kind of look at the token, and the transfer or approval that changes what was seen there. */
const looks = [
  [1, 'the balance of a stranger, read by the account', 'transfer'],
  [2, 'an allowance of a stranger for the tank', 'approve'],
  [3, 'the same balance, after a transfer to the tank', 'transfer'],
  [4, 'the balance of a stranger, read by the factory', 'transfer'],
] as const

describe('accounts that look at the token while they are created', () => {
  let factory: Address
  const watched = privateKeyToAccount(devKey(3))

  beforeAll(async () => {
    const wallet = walletOf(watched)
    const hash = await wallet.sendTransaction({ data: SwitchFactory!.bytecode })
    const receipt = await nodeClient(info()).waitForTransactionReceipt({ hash })
    factory = receipt.contractAddress as Address
  })

  /** The fields of an operation that creates account number `index`, which holds tokens. */
  async function draft(look: number, index: number) {
    const salt = numberToHex(look * 100 + index, { size: 32 })
    const args = [salt, token, tank, watched.address, BigInt(look)] as const
    const words = encodeFunctionData({ abi: factoryAbi, functionName: 'create', args }).slice(74)
    const bytecode: Hex = `${SwitchAccount!.bytecode}${words}`
    const sender = getCreate2Address({ from: factory, salt, bytecode })
    await giveTokens(info(), { address: token }, sender, parseUnits('100', 6))
    const { standard } = (await rpc(standardUrl, 'biconomy_getGasFeeValues', [])).body.result
    return {
      sender,
      nonce: '0x0',
      factory,
      factoryData: encodeFunctionData({ abi: factoryAbi, functionName: 'create', args }),
      callData: '0x12345678',
      maxFeePerGas: numberToHex(BigInt(standard.maxFeePerGas)),
      maxPriorityFeePerGas: numberToHex(BigInt(standard.maxPriorityFeePerGas)),
      signature: `0x${'12'.repeat(65)}`,
    }
  }

  /** The operation with what the tank has signed. */
  async function sponsored(look: number, index: number): Promise<Json> {
    const op = await draft(look, index)
    const params = [op, info().entryPoints['0.7'], { token }]
    const { body } = await rpc(standardUrl, 'pm_sponsorUserOperation', params)
    if (body.error) throw new Error(JSON.stringify(body.error))
    const { paymasterAndData, tokenPayment, mode, MODE, ...fields } = body.result
    return { ...op, ...fields }
  }

  const send = async (op: Json) =>
    (await rpc(standardUrl, 'eth_sendUserOperation', [op, info().entryPoints['0.7']])).body

  test('an account that only approves the tank is created and pays', async () => {
    const { result: hash } = await send(await sponsored(0, 0))
    const ask = () => rpc(standardUrl, 'eth_getUserOperationReceipt', [hash])
    const receipt = await until(async () => (await ask()).body.result as Json)
    expect(receipt).toMatchObject({ success: true, paymaster: tank })
  })

  test.each(looks)('%i: %s', async (look, _, functionName) => {
    const before = await wealth()
    const signed: Json[] = []
    for (const index of [1, 2, 3]) signed.push(await sponsored(look, index))
    const answers: Json[] = []
    await chain().setAutomine(false)
    try {
      for (const op of signed) answers.push(await send(op))
      const isPooled = answers.some(({ error }) => error === undefined)
      if (isPooled) await until(hasPendingBundle)
      await change(functionName)
      await chain().mine({ blocks: 1 })
    } finally {
      await chain().setAutomine(true)
    }
    const reverted = await chain().getBlock({ includeTransactions: true })
    const statuses = await Promise.all(
      reverted.transactions.map(({ hash }) => chain().getTransactionReceipt({ hash })),
    )
    await resetSwitch()
    // The operator loses nothing, and no bundle reverts: nothing of the kind gets into the pool.
    expect(before - (await wealth()), 'wei lost by the executor').toBeLessThanOrEqual(0n)
    expect(statuses.map(({ status }) => status)).not.toContain('reverted')
    for (const { error } of answers) {
      expect(error?.code).toBe(-32502)
      expect(error?.data.rule).toMatch(/^STO-0/)
    }
  })

  /** Changes what the accounts of the attacker look at, before any bundle in the same block. */
  async function change(functionName: 'transfer' | 'approve') {
    const isTransfer = functionName === 'transfer'
    const request = {
      abi: switchAbi,
      address: token,
      functionName: isTransfer ? 'faucet' : 'approve',
      args: [isTransfer ? watched.address : tank, 1n],
      gas: 100_000n,
      maxFeePerGas: SWITCH_GAS_PRICE,
      maxPriorityFeePerGas: SWITCH_GAS_PRICE,
    }
    await walletOf(watched).writeContract(request as never)
  }

  /** The slots are as they were, for the next look. */
  async function resetSwitch() {
    const wallet = walletOf(watched)
    const balance = await nodeClient(info()).readContract({
      abi: erc20Abi,
      address: token,
      functionName: 'balanceOf',
      args: [watched.address],
    })
    const calls = [
      ['transfer', ['0x000000000000000000000000000000000000dEaD', balance]],
      ['approve', [tank, 0n]],
    ] as const
    for (const [functionName, args] of calls) {
      const hash = await wallet.writeContract({ abi: erc20Abi, address: token, functionName, args })
      await nodeClient(info()).waitForTransactionReceipt({ hash })
    }
  }
})
