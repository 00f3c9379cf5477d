import { formatEther } from 'viem/utils'
import type { Explanation } from '../base/errors/explain.js'
import { explanationLines } from './commands/explainCommand.js'
import { printTable } from './printTable.js'

type Members = Readonly<Record<string, unknown>>

/** Where an answer comes from. */
type Source = {
  /** `webhook` */
  readonly group: string
  /** `create` */
  readonly command: string
  readonly id: string
  /** The columns of a list, as `column` or `column=member`; absent = all members. */
  readonly columns?: string
  readonly row?: (item: never) => object
}

/** Members that are shown once. */
const secrets: Readonly<Record<string, string>> = { apiKey: 'key', authToken: 'token' }

/** Prints an answer of the administration API for people: lists as tables, one object by its members. */
export function printAnswer(answer: Members, { group, command, id, columns, row }: Source): void {
  const { items, next } = answer
  if (Array.isArray(items)) {
    printTable(items.map((item) => row?.(item as never) ?? rowOf(item, columns)))
    if (next !== undefined) console.log(`more: --after ${next}`)
    return
  }
  if (answer.done === true) {
    console.log(
      `${command.charAt(0).toUpperCase()}${command.slice(1).replace(/e$/, '')}ed ${group} ${id}.`,
    )
    return
  }
  if (command === 'create' && idOf(answer) !== undefined) printMembers({ [group]: answer })
  else printMembers(answer)
}

/** Members of lists that are wei, and are shown in the chain's coin as everywhere else. */
const amounts = new Set(['maxCost', 'actualCost'])

function inCoins(wei: unknown): unknown {
  return typeof wei === 'string' && /^\d+$/.test(wei) ? formatEther(BigInt(wei)) : wei
}

function rowOf(item: Members, columns: string | undefined): object {
  if (columns === undefined) return item
  return Object.fromEntries(
    columns.split(' ').map((column) => {
      const [name = '', member = name] = column.split('=')
      return [name, amounts.has(member) ? inCoins(item[member]) : item[member]]
    }),
  )
}

/** An object that has an id of its own. */
function idOf(value: Members): unknown {
  return value.id ?? value.webhookId
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members one below the other: an object of ours by its id, lists of objects as tables behind the rest. */
function printMembers(members: Members): void {
  const { explanation, ...rest } = members
  const entries = Object.entries(rest)
  const isTable = (value: unknown) => Array.isArray(value) && isObject(value[0])
  const width = Math.max(...entries.map(([name]) => name.length)) + 2
  for (const [name, value] of entries) {
    if (isTable(value)) continue
    const shown = isObject(value) ? (idOf(value) ?? JSON.stringify(value, undefined, 2)) : value
    console.log(`${name.padEnd(width)}${shown ?? '-'}`)
    if (secrets[name] !== undefined) console.log(`The ${secrets[name]} is not shown again.`)
  }
  if (isObject(explanation))
    for (const line of explanationLines(explanation as Explanation)) console.log(line)
  for (const [, value] of entries) if (isTable(value)) printTable(value as object[])
}
