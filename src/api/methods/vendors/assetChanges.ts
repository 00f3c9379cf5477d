import { formatUnits, getAddress } from 'viem/utils'
import { z } from 'zod'
import { explainError } from '../../../base/errors/explain.js'
import { PurserError } from '../../../base/errors/purserError.js'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import { CannotSimulateError } from '../../../base/errors/simulationErrors.js'
import type { BalanceChange, SimulatedAssets } from '../../../simulation/simulateAssets.js'
import { entryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeDraft, partialOperation } from '../../dialects/decode/operation.js'
import type { Decoded, Input } from '../../dialects/decode/values.js'
import { address, decimal } from '../../openRpc/parts.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson, exampleToken } from '../examples.js'
import { method, simulationErrors } from '../method.js'

/** Operations run on the newest state only: one of another block would answer about another operation. */
const blockNumber: Input<undefined> = {
  json: z.literal('latest').nullable().optional(),
  decode: (value, field) => {
    if (value === undefined || value === null || value === 'latest') return undefined
    throw new InvalidParamsError(field, 'must be "latest" or absent: it runs on the newest state.')
  },
}

const inputs = { operation: partialOperation, entryPoint, blockNumber }

function decodeInputs({ operation, entryPoint }: Decoded<typeof inputs>) {
  return { entryPoint, draft: decodeDraft(operation, 'params[0]', entryPoint.version) }
}

/** Both methods run the same operation; they differ in what they answer. */
const simulation = {
  scope: 'bundler',
  cost: 10,
  simulates: true,
  params: inputs,
  errors: simulationErrors,
  decode: decodeInputs,
} as const

const signedDecimal = z.string().regex(/^-?\d+$/)
const text = z.string()

/** What the sender wins and loses, as Pimlico's clients read it. */
export const pimlicoAssetChanges = method({
  name: 'pimlico_simulateAssetChanges',
  summary: 'What the sender of an operation would win and lose, by running it now.',
  ...simulation,
  run: async ({ entryPoint, draft }, { chain, appId, requester }) =>
    chain.balanceChanges(draft.sender, await chain.assets(entryPoint, draft, { appId, requester })),
  result: z.object({
    assetChanges: z.array(
      z.object({
        token: z.object({
          tokenType: z.enum(['NATIVE', 'ERC-20', 'ERC-721', 'ERC-1155']),
          address: address.optional(),
          tokenId: decimal.optional(),
          name: text.optional(),
          symbol: text.optional(),
          decimals: z.int().optional(),
        }),
        value: z.object({
          diff: signedDecimal,
          pre: decimal.optional(),
          post: signedDecimal.optional(),
        }),
      }),
    ),
  }),
  encode: (changes) => ({ assetChanges: changes.map(encodeChange) }),
  example: {
    params: [exampleOperationJson, EXAMPLE_ENTRY_POINT],
    outcome: [
      {
        standard: 'ERC20',
        token: exampleToken.address,
        tokenId: undefined,
        diff: -1_500_000n,
        before: 2_000_000n,
        facts: exampleToken,
      },
    ],
  },
})

function encodeChange({ standard, token, tokenId, diff, before, facts }: BalanceChange) {
  return {
    token: {
      tokenType: standard.replace('ERC', 'ERC-'),
      address: token && getAddress(token),
      tokenId: tokenId?.toString(),
      name: facts?.name,
      symbol: facts?.symbol,
      decimals: facts?.decimals,
    },
    value: {
      diff: diff.toString(),
      pre: before?.toString(),
      post: before === undefined ? undefined : (before + diff).toString(),
    },
  }
}

type AlchemyOutcome = Pick<SimulatedAssets, 'moves'> & { readonly error: PurserError | undefined }

const DECIMALS_OF_COIN = 18

/** Every transfer and approval, as Alchemy's clients read them. An operation that fails is a result with an error in it. */
export const alchemyAssetChanges = method({
  name: 'alchemy_simulateUserOperationAssetChanges',
  summary: 'The transfers and approvals of an operation, by running it now; or why it fails.',
  ...simulation,
  run: async ({ entryPoint, draft }, { chain, appId, requester }): Promise<AlchemyOutcome> => {
    const coin = { name: undefined, symbol: chain.coin.symbol, decimals: DECIMALS_OF_COIN }
    try {
      const { moves } = await chain.assets(entryPoint, draft, { appId, requester })
      const withCoin = moves.map((move) =>
        move.token === undefined ? { ...move, facts: coin } : move,
      )
      return { moves: withCoin, error: undefined }
    } catch (error) {
      if (!isAboutOperation(error)) throw error
      return { moves: [], error }
    }
  },
  refusal: ({ error }) => error,
  result: z.object({
    changes: z.array(
      z.object({
        assetType: z.enum(['NATIVE', 'ERC20', 'ERC721', 'ERC1155']),
        changeType: z.enum(['TRANSFER', 'APPROVE']),
        from: address,
        to: address,
        rawAmount: decimal,
        amount: text.nullable(),
        contractAddress: address.nullable(),
        tokenId: decimal.nullable(),
        decimals: z.int().nullable(),
        symbol: text.nullable(),
        name: text.nullable(),
        logo: z.null(),
      }),
    ),
    error: z
      .object({
        message: text,
        code: z.int(),
        rule: text.optional(),
        meaning: text.optional(),
        steps: z.array(text).optional(),
      })
      .nullable(),
  }),
  encode: ({ moves, error }) => ({
    changes: moves.map(encodeMove),
    error: error === undefined ? null : encodeError(error),
  }),
  example: {
    params: [exampleOperationJson, EXAMPLE_ENTRY_POINT],
    outcome: {
      moves: [
        {
          kind: 'transfer',
          standard: 'ERC20',
          token: exampleToken.address,
          from: exampleOperationJson.sender,
          to: '0x00000000000000000000000000000000000a11ce',
          tokenId: undefined,
          amount: 1_500_000n,
          facts: exampleToken,
        },
      ],
      error: undefined,
    },
  },
})

/** Whether an error says something about the operation, and not about its form, the node or our EVM. */
function isAboutOperation(error: unknown): error is PurserError {
  return (
    error instanceof PurserError &&
    !(error instanceof CannotSimulateError) &&
    simulationErrors.includes(error.code)
  )
}

function encodeMove(move: AlchemyOutcome['moves'][number]) {
  const { kind, standard, token, from, to, tokenId, amount, facts } = move
  const decimals = standard === 'ERC20' || standard === 'NATIVE' ? facts?.decimals : 0
  return {
    assetType: standard,
    changeType: kind === 'transfer' ? 'TRANSFER' : 'APPROVE',
    from: getAddress(from),
    to: getAddress(to),
    rawAmount: amount.toString(),
    amount: decimals === undefined ? null : formatUnits(amount, decimals),
    contractAddress: token === undefined ? null : getAddress(token),
    tokenId: tokenId?.toString() ?? null,
    decimals: decimals ?? null,
    symbol: facts?.symbol ?? null,
    name: facts?.name ?? null,
    logo: null,
  }
}

function encodeError({ message, code, rule }: PurserError) {
  const known = explainError({ code, rule: rule ?? null })
  return { message, code, rule, meaning: known?.meaning, steps: known?.steps }
}
