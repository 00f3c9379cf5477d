import {
  createBatchedSessionRouterModule,
  createSessionKeyManagerModule,
  StorageType,
} from '@biconomy/account'
import { toBiconomySmartAccount } from 'permissionless/accounts'
import {
  type Address,
  concatHex,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  toHex,
} from 'viem'
import { getUserOperationHash, type SmartAccount } from 'viem/account-abstraction'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { commonOf, ownerOf } from './accountFamily.js'
import { ANY_CALL, sessionModules } from './placeSessionModules.js'

const { SessionKeyManager: MANAGER, BatchedSessionRouter: ROUTER } = sessionModules

const accountAbi = parseAbi([
  'function enableModule(address module)',
  'function executeBatch_y6U(address[] dest, uint256[] value, bytes[] func)',
])

type Call = {
  readonly to: Address
  readonly value?: bigint | undefined
  readonly data?: Hex | undefined
}

/** How the SDK signs for a session: a dummy, the signature of an operation's hash, and the module that reads both. */
type SessionSigner = {
  readonly module: Address
  readonly encodeCalls: (calls: readonly Call[]) => Promise<Hex>
  readonly dummy: (callData: Hex) => Promise<Hex>
  readonly sign: (hash: Hex, callData: Hex) => Promise<Hex>
}

function encodeBatch(calls: readonly Call[]): Hex {
  const args = [
    calls.map(({ to }) => to),
    calls.map(({ value = 0n }) => value),
    calls.map(({ data = '0x' }) => data),
  ] as const
  return encodeFunctionData({ abi: accountAbi, functionName: 'executeBatch_y6U', args })
}

function callsIn(callData: Hex): number {
  const { functionName, args } = decodeFunctionData({ abi: accountAbi, data: callData })
  if (functionName !== 'executeBatch_y6U') throw new Error(`${functionName} is no batch.`)
  return args[0].length
}

type Message = { readonly raw: Hex | Uint8Array }

/** A signer in the SDK's own form, which asks no node for anything. */
function signerOf({ address, signMessage }: PrivateKeyAccount) {
  return {
    signerType: 'session key',
    getAddress: async () => address,
    signMessage: (message: Message) => signMessage({ message }),
  }
}

/** The router of the package has the manager signed too; the SDK, which is for its successor, leaves it out. */
function forRouter(key: PrivateKeyAccount) {
  const signer = signerOf(key)
  return {
    ...signer,
    signMessage: ({ raw }: Message) => {
      const hash = typeof raw === 'string' ? raw : toHex(raw)
      return signer.signMessage({ raw: keccak256(concatHex([hash, MANAGER])) })
    },
  }
}

/** Four sessions, as an account has that several apps use; the first is the one that signs. */
async function sessionsOf(account: SmartAccount, seed: string) {
  const manager = await createSessionKeyManagerModule({
    smartAccountAddress: account.address,
    storageType: StorageType.MEMORY_STORAGE,
  })
  const keys = Array.from({ length: 4 }, (_, at) => ownerOf(`${seed}, session ${at}`))
  const leaves = keys.map(({ address }) => ({
    validUntil: 0,
    validAfter: 0,
    sessionValidationModule: ANY_CALL,
    sessionPublicKey: address,
    sessionKeyData: encodeAbiParameters(parseAbiParameters('address'), [address]),
  }))
  const { data, sessionIDInfo } = await manager.createSessionData(leaves)
  return { manager, key: keys[0]!, sessionID: sessionIDInfo[0]!, setRoot: data as Hex }
}

type Sessions = Awaited<ReturnType<typeof sessionsOf>>

function singleSigner(owned: SmartAccount, { manager, key, sessionID }: Sessions): SessionSigner {
  const params = { sessionSigner: signerOf(key), sessionID } as never
  return {
    module: MANAGER,
    encodeCalls: (calls) => owned.encodeCalls([...calls]),
    dummy: async () => (await manager.getDummySignature(params)) as Hex,
    sign: async (hash) => (await manager.signUserOpHash(hash, params)) as Hex,
  }
}

async function batchedSigner({ manager, key, sessionID }: Sessions): Promise<SessionSigner> {
  const router = await createBatchedSessionRouterModule({
    moduleAddress: ROUTER,
    smartAccountAddress: manager.getAddress(),
    sessionKeyManagerModule: manager,
  } as never)
  const session = { sessionSigner: forRouter(key), sessionID }
  const params = (callData: Hex) =>
    ({ batchSessionParams: Array(callsIn(callData)).fill(session) }) as never
  return {
    module: ROUTER,
    encodeCalls: async (calls) => encodeBatch(calls),
    dummy: async (callData) => (await router.getDummySignature(params(callData))) as Hex,
    sign: async (hash, callData) => (await router.signUserOpHash(hash, params(callData))) as Hex,
  }
}

/**
 * An account of Biconomy V2 as the SDK of its vendor uses it with session keys: the owner's first operation creates it,
 * enables the modules and allows the sessions; a session key signs all others.
 */
export async function openWithSessions(
  info: DevInfo,
  seed: string,
  kind: 'single' | 'batched',
): Promise<SmartAccount> {
  const parameters = { ...commonOf(info, '0.6'), owners: [ownerOf(seed)] }
  const owned = (await toBiconomySmartAccount(parameters as never)) as SmartAccount
  const sessions = await sessionsOf(owned, seed)
  const isBatched = kind === 'batched'
  const signer = isBatched ? await batchedSigner(sessions) : singleSigner(owned, sessions)
  const modules = isBatched ? [MANAGER, ROUTER] : [MANAGER]
  const enabling = modules.map((module) => {
    const args = [module] as const
    const data = encodeFunctionData({ abi: accountAbi, functionName: 'enableModule', args })
    return { to: owned.address, data }
  })
  const setup = [...enabling, { to: MANAGER, data: sessions.setRoot }]
  return {
    ...owned,
    encodeCalls: async (calls) =>
      (await owned.isDeployed())
        ? signer.encodeCalls(calls as readonly Call[])
        : owned.encodeCalls([...setup, ...calls]),
    getStubSignature: async (operation) =>
      (await owned.isDeployed())
        ? signer.dummy((operation as { callData: Hex }).callData)
        : owned.getStubSignature(),
    signUserOperation: async (operation) => {
      if (!(await owned.isDeployed())) return owned.signUserOperation(operation)
      const { chainId: _, ...userOperation } = operation
      const hash = getUserOperationHash({
        chainId: info.chainId,
        entryPointAddress: owned.entryPoint.address,
        entryPointVersion: '0.6',
        userOperation: { ...userOperation, sender: owned.address, signature: '0x' } as never,
      })
      const signature = await signer.sign(hash, operation.callData)
      return encodeAbiParameters(parseAbiParameters('bytes, address'), [signature, signer.module])
    },
  }
}
