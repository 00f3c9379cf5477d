import { errorCodes, requestCodes } from '../errors/errorCodes.js'
import { refusalCodes, tokenRefusalCodes } from '../errors/refusal.js'
import { dropCodes, historyCodes } from '../store/dropCode.js'
import { dropRemedies } from './dropRemedies.js'
import { entryPointCodes } from './entryPointCodes.js'
import { errorRemedies } from './errorRemedies.js'
import type { Explanation, Remedy } from './explanation.js'
import { historyRemedies } from './historyRemedies.js'
import { refusalRemedies } from './refusalRemedies.js'
import { requestRemedies } from './requestRemedies.js'
import { ruleFamilies } from './ruleFamilies.js'

type Entry = Remedy & { readonly meaning: string; readonly docs: string }

function entriesOf(
  meanings: Readonly<Record<string, string>>,
  remedies: Readonly<Record<string, Remedy>>,
  docs: string,
): [string, Entry][] {
  return Object.entries(meanings).flatMap(([code, meaning]) => {
    const remedy = remedies[code]
    return remedy === undefined ? [] : [[code, { meaning, docs, ...remedy }]]
  })
}

const ofFailedEstimate: Entry = {
  meaning: 'The sponsorship needs an estimate, and the operation cannot be estimated.',
  docs: 'sponsorship.md',
  culprit: 'app',
  steps: ['Ask eth_estimateUserOperationGas, and mend what it answers.'],
}

const ofPromisedDeposit: Entry = {
  meaning:
    "The paymaster's deposit covers this operation alone, and not beside its other pending ones.",
  docs: 'validation.md',
  ...errorRemedies[-32508],
}

const entries: ReadonlyMap<string, Entry> = new Map([
  ...entriesOf(errorCodes, errorRemedies, 'api.md'),
  ...entriesOf(requestCodes, requestRemedies, 'api.md'),
  ...entriesOf(dropCodes, dropRemedies, 'api.md'),
  ...entriesOf(historyCodes, historyRemedies, 'api.md'),
  ...entriesOf(tokenRefusalCodes, refusalRemedies, 'tokens.md'),
  ...entriesOf(refusalCodes, refusalRemedies, 'sponsorship.md'),
  ['ESTIMATION_FAILED', ofFailedEstimate],
  // Of its family only this rule is about money.
  ['EREP-010', ofPromisedDeposit],
  ...Object.entries(entryPointCodes).map(([code, entry]): [string, Entry] => [
    code,
    { ...entry, docs: 'api.md' },
  ]),
])

/** Every code that has an explanation; the rules of ERC-7562 are explained by their families beside it. */
export const explainedCodes: readonly string[] = [...entries.keys()]

const rulePattern = /^(OP|STO|COD|AUTH|EREP|SREP|GREP|UREP|LIM)-\d{3}$/

/**
 * Meaning, culprit and remedy of a code: of the EntryPoint (`AA25`), of ERC-7562 (`STO-021`), of a refusal
 * or a dropped operation (`BUDGET_EXCEEDED`), or a JSON-RPC error (`-32508`). Undefined for any other text.
 */
export function explain(code: string): Explanation | undefined {
  const entry = entries.get(code)
  if (entry !== undefined) return { code, ...entry }
  const rule = rulePattern.exec(code)?.[1]
  const family = rule === undefined ? undefined : ruleFamilies[rule]
  return family && { code, ...family, docs: 'validation.md' }
}

/** The explanation of an error: its rule, where there is one, tells more than its JSON-RPC code. */
export function explainError(error: {
  readonly rule: string | null
  readonly code: number
}): Explanation | undefined {
  return (error.rule === null ? undefined : explain(error.rule)) ?? explain(String(error.code))
}
