import { z } from 'zod'
import type { Contracts } from './contract.js'
import { address, appParams, chainId, id, listOf, name, time, wei } from './schemas.js'

const tank = z.object({
  id,
  appId: id,
  chainId: z.int(),
  entryPoint: address,
  /** gas: gives it; token: takes tokens for it. */
  kind: z.enum(['gas', 'token']),
  address,
  owner: address,
  /** wei in the EntryPoint at a head of the last seconds; null = this Purser does not serve the chain. */
  deposit: wei.nullable(),
  /** wei of the deposit that are reserved for sponsorships. */
  locked: wei.nullable(),
  /** The pace of the last week: wei that a day costs, and days that the rest lasts; days null = for ever. */
  runway: z.object({ daily: wei, days: z.number().nullable() }).nullable(),
  /** Since when less is available than the alarm of the app's fund says. */
  lowSince: time.nullable(),
  createdAt: time,
})

const fund = z.object({
  chainId: z.int(),
  mode: z.enum(['tank', 'shared', 'native']),
  /** wei, ever */
  credited: wei,
  alarmWei: wei,
  alarmDays: z.int(),
})

/** Tanks are deployed, funded and withdrawn from by the holder of a key: a wallet, or a command. */
export const tankContracts = {
  'GET /tanks': {
    summary: 'The tanks of all apps of the account, with what they hold and how long it lasts',
    who: 'account',
    role: 'viewer',
    answer: listOf(tank),
  },
  'GET /apps/{appId}/tanks': {
    summary: 'The tanks of an app with their deposits',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(tank),
  },
  'GET /apps/{appId}/tanks/{tankId}': {
    summary: 'One tank',
    who: 'account',
    role: 'viewer',
    params: appParams.extend({ tankId: id }),
    answer: tank,
  },
  'POST /apps/{appId}/tanks': {
    summary:
      'Make a tank that gives gas; its address can be funded, and it signs once it is on the chain',
    who: 'account',
    role: 'admin',
    params: appParams,
    body: z.strictObject({
      chainId: z.int().min(1),
      entryPoint: address,
      /** Who alone can withdraw; it cannot be changed. */
      owner: address,
    }),
    answer: tank,
    status: 201,
  },
  'GET /apps/{appId}/tanks/{tankId}/deployment': {
    summary:
      'The transactions that a tank is missing on the chain, for any wallet; none = it is there',
    who: 'account',
    role: 'viewer',
    params: appParams.extend({ tankId: id }),
    answer: listOf(
      z.object({
        puts: z.enum(['factory', 'code', 'tank']),
        to: address,
        data: z.string().regex(/^0x[0-9a-f]*$/),
      }),
    ),
  },
  'GET /apps/{appId}/funds': {
    summary: 'What the app pays with on each chain, where that was set',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(fund),
  },
  'PATCH /apps/{appId}/funds/{chainId}': {
    summary:
      'Below what is available, in wei or in days of average use, tank.low is sent; 0 = never',
    who: 'account',
    role: 'admin',
    params: appParams.extend({ chainId }),
    body: z.strictObject({ alarmWei: wei, alarmDays: z.int().min(0).max(3_650) }).partial(),
    answer: fund,
  },
} as const satisfies Contracts

const fundParams = appParams.extend({ chainId })

/** What an app pays with on a chain. Amounts in wei. */
const fundState = z.object({
  mode: z.enum(['tank', 'shared', 'native']),
  credit: z.object({
    /** Credited and not spent; `locked` of it is reserved. */
    balance: wei,
    locked: wei,
    available: wei,
  }),
})

/** Credit is the operator's money, and the mode says whose money is spent: both are the operator's to set. */
export const fundContracts = {
  'PATCH /apps/{appId}/funds/{chainId}/mode': {
    summary: "What pays for an app's operations from the next sponsorship on",
    who: 'operator',
    params: fundParams,
    body: z.strictObject({ mode: fundState.shape.mode }),
    answer: fundState,
  },
  'POST /apps/{appId}/funds/{chainId}/credit': {
    summary: 'Give an app credit, or take back (negative) what is free; a reference counts once',
    who: 'operator',
    params: fundParams,
    body: z.strictObject({
      wei: z
        .string()
        .regex(/^-?[1-9]\d{0,29}$/, 'must be wei as a decimal number, negative to take'),
      reference: name,
    }),
    answer: fundState,
  },
} as const satisfies Contracts
