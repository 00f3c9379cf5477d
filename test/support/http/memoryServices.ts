import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import type { ChainServices, RegisteredWebhook, Services } from '../../../src/api/services.js'
import { CannotSimulateError } from '../../../src/base/errors/simulationErrors.js'
import type { TokenDefinition } from '../../../src/chain/definition/tokenDefinition.js'
import type { Draft } from '../../../src/erc4337/draft.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { SponsorshipRequest } from '../../../src/paymaster/sponsorship.js'
import { unrestricted } from '../../../src/tenants/keyOwner.js'
import { address, entryPointNamed, operation, receipt } from './apiFixtures.js'

/** What a service was called with, in the order of the calls. */
export type ServiceCall = { readonly name: string; readonly arguments: readonly unknown[] }

export const memoryChainId = 31_337
export const memoryKeys = {
  apiKey: 'app-1.key',
  authToken: 'account-1.token',
  /** Another app of the same account. */
  siblingKey: 'app-2.key',
  /** An app and a token of another account. */
  strangerKey: 'app-3.key',
  strangerToken: 'account-2.token',
}

const validUntil = 1_800_000_000

export const memoryToken: TokenDefinition = {
  address: address('b'),
  symbol: 'TUSD',
  name: 'Test dollar',
  decimals: 6,
  logoUrl: 'https://tokens.example/tusd.png',
  markup: 1_050_000,
  sources: [{ kind: 'fixed', perNative: 3_000_500_000_000_000_000_000n }],
  minimumSources: 1,
  maxDeviation: 0,
  maxExposure: undefined,
  treasury: undefined,
  extraCallGas: 0n,
}

/**
 * Services that keep everything in memory: for tests of `api/` alone. Sponsoring refuses
 * when webhookData says `{"refuse": true}`; `chain.include(hash)` makes an operation included.
 */
export function createMemoryServices() {
  const calls: ServiceCall[] = []
  const operations = new Map<
    Hex,
    { op: Operation; entryPoint: Hex; included: boolean; appId: string }
  >()
  const webhooks = new Map<string, RegisteredWebhook & { appId: string; active: boolean }>()
  const state = { ready: true }

  const recorded = <A extends readonly unknown[], R>(name: string, run: (...args: A) => R) => {
    return async (...args: A): Promise<Awaited<R>> => {
      calls.push({ name, arguments: args })
      return await run(...args)
    }
  }

  const receiptOf = (hash: Hex) =>
    operations.get(hash)?.included ? { ...receipt, userOpHash: hash } : undefined

  const chain: ChainServices = {
    chainId: memoryChainId,
    name: 'Memory',
    explorerUrl: undefined,
    coin: { symbol: 'ETH', usd: async () => '3000' },
    entryPoints: new Map(
      (['0.6', '0.7', '0.8', '0.9'] as const).map((version) => {
        const entryPoint = entryPointNamed(version)
        return [entryPoint.address, entryPoint]
      }),
    ),
    estimate: recorded('estimate', (_, draft) => ({
      callGasLimit: draft.callGasLimit ?? 40_000n,
      verificationGasLimit: 60_000n,
      preVerificationGas: 50_000n,
      paymasterVerificationGasLimit: draft.paymaster && 30_000n,
      paymasterPostOpGasLimit: draft.paymaster && 0n,
      maxFeePerGas: 1_500_000_000n,
      maxPriorityFeePerGas: 0n,
      validAfter: 0,
      validUntil: 1_800_000_000,
    })),
    fees: recorded('fees', () => ({
      slow: { maxFeePerGas: 1n, maxPriorityFeePerGas: 0n },
      standard: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
      fast: { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n },
    })),
    admit: recorded('admit', (entryPoint, op, { appId }) => {
      const hash = entryPoint.hash(op, memoryChainId)
      operations.set(hash, { op, entryPoint: entryPoint.address, included: false, appId })
      return hash
    }),
    check: recorded('check', (entryPoint, op) => entryPoint.hash(op, memoryChainId)),
    status: recorded('status', (hash) => {
      if (!operations.has(hash)) return undefined
      const found = receiptOf(hash)
      return {
        state: found ? 'CONFIRMED' : 'BUNDLER_MEMPOOL',
        message: undefined,
        transactionHash: found?.receipt.transactionHash,
        receipt: found,
      }
    }),
    receipt: recorded('receipt', receiptOf),
    preconfirmed: recorded('preconfirmed', () => undefined),
    neededGas: recorded('neededGas', () => undefined),
    waterfall: recorded('waterfall', () => ({
      prefund: 2n,
      charge: 1n,
      refund: 1n,
      gasPrice: 1n,
      parts: [],
      state: undefined,
      hints: [],
    })),
    assets: recorded('assets', () => ({
      moves: [],
      blockHash: `0x${'ab'.repeat(32)}`,
    })),
    balanceChanges: recorded('balanceChanges', () => []),
    finalTime: recorded('finalTime', () => new Date()),
    witnesses: {
      mined: () => Promise.reject(new CannotSimulateError('there is no chain')),
      alone: () => Promise.reject(new CannotSimulateError('there is no chain')),
      readState: () => Promise.reject(new CannotSimulateError('there is no chain')),
    },
    byHash: recorded('byHash', (hash) => {
      const found = operations.get(hash)
      if (found === undefined) return undefined
      const transaction = receiptOf(hash)?.receipt
      return {
        operation: found.op,
        appId: found.appId,
        entryPoint: found.entryPoint,
        blockNumber: transaction?.blockNumber,
        blockHash: transaction?.blockHash,
        transactionHash: transaction?.transactionHash,
      }
    }),
    follow: (hash, _, { report }) => {
      const receipt = receiptOf(hash)
      // Nothing bundles here: who waits for an operation that is not included is answered at once.
      const state = receipt === undefined ? 'DROPPED_FROM_BUNDLER_MEMPOOL' : 'CONFIRMED'
      const transactionHash = receipt?.receipt.transactionHash
      const status = { state, message: undefined, transactionHash, receipt } as const
      queueMicrotask(() => report({ status, isDone: true }))
      return () => undefined
    },
    followSender: () => () => undefined,
    debug: undefined,
    reads: {
      read: recorded('reads', () => null),
      send: recorded('send', () => `0x${'ab'.repeat(32)}` as const),
      head: () => 1_000n,
      onHeader: () => () => undefined,
      logRange: 100,
      estimatesGas: true,
      close: async () => undefined,
    },
    sponsor: recorded('sponsor', (request) => {
      const sponsored = request.webhookData?.refuse !== true
      return {
        decision: {
          decisionId: '00000000-0000-4000-8000-000000000001',
          sponsored,
          code: sponsored ? 'sponsored' : 'webhook_denied',
          message: sponsored ? 'Sponsored.' : 'The webhook denied the sponsorship.',
        },
        operation: completed(request, sponsored),
        paymasterAndData: sponsored ? `${address('7')}abcd` : '0x',
      }
    }),
    stub: recorded('stub', () => ({
      paymaster: address('7'),
      paymasterData: '0xffff',
      paymasterVerificationGasLimit: 30_000n,
      paymasterPostOpGasLimit: 0n,
    })),
    tokenPrices: recorded('tokenPrices', () => [
      {
        token: memoryToken,
        look: {
          at: 1_790_000_000,
          rate: { units: 3_000_500_000n },
          sources: [{ price: 3_000_500_000_000_000_000_000n }],
        },
      },
    ]),
    tanks: recorded('tanks', () => [address('7')]),
    tokens: {
      list: recorded('tokens.list', () => ({ rates: [], stub: undefined })),
      rates: recorded('tokens.rates', ({ tokens }) => ({
        rates: tokens
          .filter((token) => token === memoryToken.address)
          .map(() => ({
            token: memoryToken,
            paymaster: address('7'),
            markedUpRate: 3_150_000_000n,
            extraGas: 42_000n,
          })),
        nativePrice: 3_000_000_000n,
      })),
      quote: recorded('tokens.quote', ({ tokens }) => ({
        paymaster: address('7'),
        quotes: [{ token: memoryToken, maxCharge: 1_250_000n, rate: 3_000_000_000n, validUntil }],
        unsupported: tokens.filter((token) => token !== memoryToken.address),
        nativePrice: 3_000_000_000n,
      })),
      pay: recorded('tokens.pay', (request) => ({
        decisionId: '00000000-0000-4000-8000-000000000002',
        operation: completed(request, true),
        paymasterAndData: `${address('7')}abcd`,
        token: memoryToken,
        maxCharge: 1_250_000n,
        rate: 3_000_000_000n,
        validUntil,
      })),
      stub: recorded('tokens.stub', () => ({
        paymaster: address('7'),
        paymasterData: '0x01ff',
        paymasterVerificationGasLimit: 60_000n,
        paymasterPostOpGasLimit: 50_000n,
      })),
    },
    previewSponsorship: recorded('previewSponsorship', () => ({
      sponsored: true,
      code: 'SPONSORED',
      message: 'Would be sponsored up to 0.000000000000000001 ETH.',
      policyId: undefined,
      policies: [],
    })),
  }

  const identities = new Map([
    [
      memoryKeys.apiKey,
      { keyId: 'key-1', appId: 'app-1', accountId: 'account-1', ...unrestricted, appQuotas: null },
    ],
    [
      memoryKeys.siblingKey,
      { keyId: 'key-2', appId: 'app-2', accountId: 'account-1', ...unrestricted, appQuotas: null },
    ],
    [
      memoryKeys.strangerKey,
      { keyId: 'key-3', appId: 'app-3', accountId: 'account-2', ...unrestricted, appQuotas: null },
    ],
  ])
  const firstToken = { role: 'admin', tokenId: 'token-1', isFirst: true } as const
  const accounts = new Map([
    [memoryKeys.authToken, { accountId: 'account-1', ...firstToken }],
    [memoryKeys.strangerToken, { accountId: 'account-2', ...firstToken }],
  ])
  const webhookOf = (appId: string, webhookId: string) => {
    const webhook = webhooks.get(webhookId)
    return webhook?.appId === appId ? webhook : undefined
  }

  const operatorToken = 'operator'
  const sponsors = new Map([['app-1', { name: 'App one', icon: 'https://one.example/icon.png' }]])
  const services: Services = {
    clientVersion: 'purser/test',
    chains: new Map([[chain.chainId, chain]]),
    requireServed: () => {},
    authenticateKey: async (key) => identities.get(key),
    authenticateToken: async (token) => accounts.get(token),
    isOperator: (token) => token === operatorToken,
    recordRefusal: () => {},
    takeRequest: async () => {},
    countRequest: () => {},
    keyUsed: () => {},
    sponsorOf: async (appId) => sponsors.get(appId),
    webhooks: () => ({
      create: recorded('webhooks.create', (appId, webhook) => {
        const webhookId = randomUUID()
        webhooks.set(webhookId, { webhookId, ...webhook, appId, active: true })
        return { webhookId, ...webhook }
      }),
      get: recorded('webhooks.get', webhookOf),
      update: recorded('webhooks.update', (appId, webhookId, active) => {
        const webhook = webhookOf(appId, webhookId)
        if (webhook !== undefined) webhooks.set(webhookId, { ...webhook, active })
        return webhook !== undefined
      }),
      delete: recorded('webhooks.delete', (appId, webhookId) =>
        webhookOf(appId, webhookId) === undefined ? false : webhooks.delete(webhookId),
      ),
    }),
    readiness: async () => ({
      ready: state.ready,
      roles: ['api', 'bundler'],
      checks: { database: state.ready },
      reasons: state.ready ? [] : ['The database does not answer.'],
      alerts: ['Chain 10, 0x11: send it money.'],
      chains: {
        10: {
          head: 1,
          headAge: 2,
          answers: true,
          bundlesHere: true,
          bundled: true,
          executors: [
            { role: 'executor', address: '0x11', state: 'paused', balance: '5', inFlight: 0 },
          ],
        },
      },
    }),
  }

  return {
    services,
    operatorToken,
    chain,
    calls,
    webhooks,
    include: (hash: Hex): void => {
      const found = operations.get(hash)
      if (found === undefined) throw new Error(`${hash} was never admitted`)
      found.included = true
    },
    setReady: (ready: boolean): void => {
      state.ready = ready
    },
  }
}

function completed({ draft }: Pick<SponsorshipRequest, 'draft'>, sponsored: boolean): Operation {
  return {
    ...withLimits(draft),
    ...(sponsored && {
      paymaster: address('7'),
      paymasterData: '0xabcd',
      paymasterVerificationGasLimit: 30_000n,
    }),
  }
}

function withLimits(draft: Draft): Operation {
  return {
    ...draft,
    callGasLimit: draft.callGasLimit ?? operation.callGasLimit,
    verificationGasLimit: draft.verificationGasLimit ?? operation.verificationGasLimit,
    preVerificationGas: draft.preVerificationGas ?? operation.preVerificationGas,
    maxFeePerGas: draft.maxFeePerGas ?? operation.maxFeePerGas,
    maxPriorityFeePerGas: draft.maxPriorityFeePerGas ?? operation.maxPriorityFeePerGas,
    paymasterVerificationGasLimit: draft.paymasterVerificationGasLimit ?? 0n,
    paymasterPostOpGasLimit: draft.paymasterPostOpGasLimit ?? 0n,
  }
}
