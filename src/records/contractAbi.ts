import type { AbiParameter, Hex } from 'viem'
import { parseAbiItem, size, sliceHex, toFunctionSelector } from 'viem/utils'
import { z } from 'zod'
import { boundText } from '../erc4337/encoding/boundText.js'
import { decodeParameters } from '../erc4337/encoding/decodeParameters.js'

export const MOST_ABI_ITEMS = 500
/** Characters of an ABI as it is sent. */
export const LONGEST_ABI = 200_000
const LONGEST_LINE = 2_000

const name = z.string().regex(/^[A-Za-z_$][\w$]{0,79}$/)
const ofParameter = { name: name.or(z.literal('')).optional() }
const word = z.object({
  ...ofParameter,
  type: z
    .string()
    .regex(/^(address|bool|string|bytes([1-9]|[12]\d|3[0-2])?|u?int\d{1,3})(\[\d{0,3}\]){0,3}$/),
})
/** Structs three deep at most, so that what is stored stays small. */
const parameter = word.or(struct(word.or(struct(word.or(struct(word))))))
const item = z.object({
  type: z.enum(['function', 'error']),
  name,
  inputs: z.array(parameter).max(32),
})

/** A function or an error of a contract that an app calls. */
export type ContractItem = {
  readonly type: 'function' | 'error'
  readonly name: string
  readonly inputs: readonly Parameter[]
}

/** A struct of such members. */
function struct<Member extends z.ZodType>(member: Member) {
  return z.object({
    ...ofParameter,
    type: z.string().regex(/^tuple(\[\d{0,3}\]){0,3}$/),
    components: z.array(member).min(1).max(32),
  })
}

type Parameter = {
  readonly name?: string | undefined
  readonly type: string
  readonly components?: readonly Parameter[] | undefined
}

/**
 * The functions and errors of an ABI, each once: JSON as compilers write it, alone or as `abi` of an artifact, or one
 * `function …` or `error …` on each line. A sentence says what is wrong with it.
 */
export function readContractAbi(text: string): readonly ContractItem[] | string {
  const entries = /^\s*[[{]/.test(text) ? fromJson(text) : fromLines(text)
  if (typeof entries === 'string') return entries
  const items = new Map<string, ContractItem>()
  for (const entry of entries) {
    const read = item.safeParse(entry)
    if (!read.success) return `is not an ABI: ${titleOf(entry)} cannot be read`
    items.set(`${read.data.type} ${signatureOf(read.data)}`, read.data)
  }
  if (items.size > MOST_ABI_ITEMS)
    return `has ${items.size} functions and errors, at most ${MOST_ABI_ITEMS} are kept`
  return [...items.values()]
}

/** Of anything that was sent, however deep. */
function titleOf(entry: unknown): string {
  const { name } = entry as { readonly name?: unknown }
  return typeof name === 'string' ? `"${boundText(name).slice(0, 100)}"` : 'an item without a name'
}

function fromJson(text: string): readonly unknown[] | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'is not valid JSON'
  }
  const list = Array.isArray(value) ? value : (value as { abi?: unknown }).abi
  if (!Array.isArray(list)) return 'is no list, and has no member abi that is one'
  return list.filter((entry) => item.shape.type.safeParse(entry?.type).success)
}

function fromLines(text: string): readonly unknown[] | string {
  const lines = text.split('\n').map((line) => line.trim().replace(/;$/, ''))
  const entries: unknown[] = []
  for (const line of lines.filter((each) => each !== '')) {
    if (line.length > LONGEST_LINE) return `has a line of more than ${LONGEST_LINE} characters`
    try {
      entries.push(parseAbiItem(line as 'function f()'))
    } catch {
      return `is not an ABI: "${boundText(line).slice(0, 100)}" cannot be read`
    }
  }
  return entries
}

/** `transfer(address,uint256)` */
export function signatureOf({ name, inputs }: Pick<ContractItem, 'name' | 'inputs'>): string {
  return `${name}(${inputs.map(typeOf).join(',')})`
}

function typeOf({ type, components }: Parameter): string {
  return components === undefined
    ? type
    : type.replace('tuple', () => `(${components.map(typeOf).join(',')})`)
}

/** `function transfer(address to, uint256 amount)` */
export function lineOf({ type, name, inputs }: ContractItem): string {
  return `${type} ${name}(${inputs.map(parameterText).join(', ')})`
}

function parameterText({ name, type, components }: Parameter): string {
  const text =
    components === undefined
      ? type
      : type.replace('tuple', () => `(${components.map(parameterText).join(', ')})`)
  return name ? `${text} ${name}` : text
}

/** Functions or errors by selector. */
export type Dictionary = ReadonlyMap<Hex, ContractItem>

export function dictionaryOf(
  items: readonly ContractItem[],
  kind: ContractItem['type'],
): Dictionary {
  return new Map(
    items
      .filter(({ type }) => type === kind)
      .map((each) => [toFunctionSelector(signatureOf(each)), each]),
  )
}

/** A call or an error in words. */
export type NamedData = {
  readonly name: string
  readonly signature: string
  readonly args: readonly { readonly name: string; readonly value: string }[]
}

/** `data` by the function or error of its selector; undefined where there is none, or its arguments make no sense. */
export function nameData(data: Hex, dictionary: Dictionary): NamedData | undefined {
  if (size(data) < 4) return undefined
  const found = dictionary.get(sliceHex(data, 0, 4))
  if (found === undefined) return undefined
  const inputs = found.inputs as readonly AbiParameter[]
  const values = decodeParameters(inputs, size(data) === 4 ? '0x' : sliceHex(data, 4))
  if (values === undefined) return undefined
  const args = inputs.map(({ name = '' }, at) => ({ name, value: valueText(values[at]) }))
  return { name: found.name, signature: signatureOf(found), args }
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(',')
  if (typeof value === 'string') return value.startsWith('0x') ? value : boundText(value)
  if (typeof value !== 'object' || value === null) return String(value)
  return `(${Object.values(value).map(valueText).join(', ')})`
}
