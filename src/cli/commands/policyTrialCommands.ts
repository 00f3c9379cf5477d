import type { Command } from 'commander'
import { readPasted } from '../../api/readPasted.js'
import { unixNow } from '../../base/unixNow.js'
import { MOST_TRIED } from '../../base/vocabulary.js'
import { canonicalAddresses } from '../../entrypoint/canonicalAddresses.js'
import { createEntryPoint } from '../../entrypoint/createEntryPoint.js'
import type { Version } from '../../entrypoint/versionFacts.js'
import { ConfigError } from '../../errors/configError.js'
import {
  type TermsMistake,
  termsMistakes,
  termsSchema,
  termsWarnings,
} from '../../policy/policySchema.js'
import type { Unevaluated } from '../../policy/tryPolicy.js'
import {
  type PastedOperation,
  type TrialResult,
  type TrialSubject,
  type TriedRecord,
  tryOnRecords,
} from '../../records/tryOnRecords.js'
import { type Flags, onStore } from '../onStore.js'
import { printTable } from '../printTable.js'
import { readObjectFile } from '../readPolicyFile.js'
import { requireApp } from './accountCommands.js'

/** The parts of a draft that a trial left out, in words. */
const unevaluatedWords: Readonly<Record<Unevaluated, string>> = {
  webhooks: 'webhooks are not asked',
  budgetsInUsd: 'budgets in USD are not counted',
  budgetsOfAmounts: 'the cost is not known, so budgets in wei are not counted',
  fees: 'the fee is not known',
  validity: 'the draft counts as in force',
}

/** Refused operations of which the table has rows. */
const MOST_ROWS = 50

/** `purser policy check|try` */
export function definePolicyTrialCommands(policy: Command): void {
  policy
    .command('check')
    .argument('<file>', 'JSON or YAML with terms')
    .description('whether a policy is well-formed and can ever pass; every mistake with its path')
    .option('--of <owner>', 'a policy of the app, or of the account', 'app')
    .action((file: string, { of }: { readonly of: string }) => {
      if (of !== 'app' && of !== 'account') throw new ConfigError('--of must be app or account.')
      const written = termsIn(file)
      const mistakes = termsMistakes(written, { isOfApp: of === 'app' })
      if (mistakes.length > 0) throw new ConfigError(sentenceOf(file, mistakes))
      console.log('well-formed')
      // Of chains and other policies, which are in no file, the API's check knows.
      const around = { now: unixNow(), served: undefined, before: [], after: [] }
      for (const { path, message } of termsWarnings(termsSchema.parse(written), around))
        console.log(`warning: ${path || 'the terms'} ${message}`)
    })
  onStore(
    policy
      .command('try')
      .argument('<file>', 'JSON or YAML with terms')
      .description('what a draft would have said of operations; changes nothing')
      .requiredOption('--app <id>', 'operations of this app')
      .option('--policy <id>', 'the policy that it would replace, whose budgets are used in part')
      .option(
        '--last <count>',
        `the newest so many operations, ${MOST_TRIED} at most and by default`,
      )
      .option('--decision <id>', 'the operation of this decision')
      .option('--refusal <id>', 'the operation of this refused request')
      .option('--operation <path>', 'JSON with chainId, entryPoint and operation'),
    async ({ store: { database }, flags, id: file }) => {
      const { id: appId, accountId } = await requireApp(database, flags.app ?? '')
      const written = termsIn(file)
      const mistakes = termsMistakes(written, { isOfApp: true })
      if (mistakes.length > 0) throw new ConfigError(sentenceOf(file, mistakes))
      const terms = termsSchema.parse(written)
      const request = { accountId, appId, terms, policyId: flags.policy, against: subjectOf(flags) }
      print(await tryOnRecords(database, request, readCanonical))
    },
  )
}

function termsIn(file: string): unknown {
  const { terms } = readObjectFile(file, 'The policy')
  if (terms === undefined) throw new ConfigError(`The policy: ${file} lacks "terms".`)
  return terms
}

function sentenceOf(file: string, mistakes: readonly TermsMistake[]): string {
  const told = mistakes.slice(0, 20).map(({ path, message }) => `${path || 'terms'} ${message}`)
  const more = mistakes.length > told.length ? `, and ${mistakes.length - told.length} more` : ''
  return `The policy ${file} has mistakes: ${told.join('; ')}${more}.`
}

function subjectOf({ last, decision, refusal, operation }: Flags): TrialSubject {
  const named = [last, decision, refusal, operation].filter((flag) => flag !== undefined)
  if (named.length > 1)
    throw new ConfigError('Give one of --last, --decision, --refusal and --operation.')
  if (decision !== undefined) return { decisionId: decision }
  if (refusal !== undefined) return { refusalId: refusal }
  if (operation !== undefined) return { operation: pastedIn(operation) }
  const count = Number(last ?? MOST_TRIED)
  if (!Number.isInteger(count) || count < 1 || count > MOST_TRIED)
    throw new ConfigError(`--last must be a number from 1 to ${MOST_TRIED}.`)
  return { last: count }
}

function pastedIn(file: string): PastedOperation {
  const { chainId, entryPoint, operation } = readObjectFile(file, '--operation')
  if (typeof chainId !== 'number' || typeof entryPoint !== 'string')
    throw new ConfigError(`--operation: ${file} lacks "chainId" or "entryPoint".`)
  return { chainId, entryPoint, operation }
}

/** A command knows the EntryPoints that are the same on every chain. */
function readCanonical(pasted: PastedOperation) {
  const known = Object.entries(canonicalAddresses) as [Version, `0x${string}`][]
  const entryPoints = new Map(
    known.map(([version, address]) => [address, createEntryPoint(version, address)]),
  )
  return readPasted(pasted, { chainId: pasted.chainId, entryPoints })
}

function print({ items, unevaluated }: TrialResult): void {
  const [only] = items
  if (only !== undefined && items.length === 1) printVerdicts(only)
  else printAll(items)
  for (const part of unevaluated) console.log(`not applied: ${unevaluatedWords[part]}`)
}

function firstRefusal({ trial }: TriedRecord) {
  return trial.find(({ refusal }) => refusal !== undefined)?.refusal
}

function answerBefore({ before }: TriedRecord): string {
  return before === undefined ? 'nobody asked' : before.code
}

function printVerdicts(record: TriedRecord): void {
  console.log(
    `would be ${firstRefusal(record)?.code ?? 'sponsored'}; then: ${answerBefore(record)}`,
  )
  printTable(
    record.trial.map(({ rule, refusal }) => ({
      rule,
      passes: refusal === undefined,
      message: refusal?.message ?? null,
    })),
  )
}

function printAll(items: readonly TriedRecord[]): void {
  const refused = items.filter((item) => firstRefusal(item) !== undefined)
  const sponsored = items.filter(({ before }) => before?.sponsored === true).length
  console.log(
    `tried ${items.length}: ${items.length - refused.length} would be sponsored, ${refused.length} refused; then ${sponsored} were sponsored`,
  )
  if (refused.length === 0) return
  const newest = refused.slice(-MOST_ROWS).reverse()
  printTable(
    newest.map((item) => ({
      time: item.at,
      sender: item.sender,
      code: firstRefusal(item)?.code,
      before: answerBefore(item),
      hash: item.userOpHash,
    })),
  )
  if (refused.length > MOST_ROWS) console.log(`and ${refused.length - MOST_ROWS} older ones`)
}
