import { expect, test } from 'vitest'
import { filterOf, filtersOf, queryOf, viewOf } from './views.js'

const asked = (view: string, search: string) =>
  queryOf(viewOf(view, 'operations'), new URLSearchParams(search))

test('refusals are asked for by the number of an error as code, by a name as rule', () => {
  expect(asked('refused', 'rule=-32602')).toEqual({ code: '-32602' })
  expect(asked('refused', 'code=-32602')).toEqual({ code: '-32602' })
  expect(asked('refused', 'rule=AA25')).toEqual({ rule: 'AA25' })
  expect(asked('refused', 'rule=AA25&code=-32500')).toEqual({ rule: 'AA25', code: '-32500' })
  // As the tab of the operations leaves it.
  expect(asked('refused', 'code=aa25')).toEqual({ rule: 'AA25' })
})

test('other lists take codes as they are, in capitals', () => {
  expect(asked('failed', 'code=aa25&rule=AA24')).toEqual({ code: 'AA25', outcome: 'failed' })
  expect(asked('not-sponsored', 'code=AA25')).toEqual({ code: 'AA25', sponsored: 'false' })
})

test('a text that is typed becomes the filter that it is for', () => {
  const of = (list: keyof typeof filtersOf, text: string) => filterOf(text, filtersOf[list])
  expect(of('refusals', '-32602')).toEqual(['code', '-32602'])
  expect(of('refusals', 'aa25')).toEqual(['rule', 'AA25'])
  expect(of('refusals', 'eth_sendUserOperation')).toEqual(['method', 'eth_sendUserOperation'])
  expect(of('decisions', 'budget_exceeded')).toEqual(['code', 'BUDGET_EXCEEDED'])
  expect(of('operations', '0xABcd')).toEqual(['sender', '0xABcd'])
})
