import { expect, test } from 'vitest'
import { csvOf } from './csv.js'

test('a row has a cell for each member, quoted where it must be', () => {
  const rows = [
    { name: 'Shop', note: 'said "no", twice', wei: '123', none: null },
    { name: 'a\nb', note: '', wei: '0', none: { of: 1 } },
  ]
  expect(csvOf(rows)).toBe(
    'name,note,wei,none\r\nShop,"said ""no"", twice",123,\r\n"a\nb",,0,"{""of"":1}"\r\n',
  )
})

test('text of others runs in no spreadsheet', () => {
  const text = (value: string) => csvOf([{ value }]).split('\r\n')[1]
  expect(['=1+1', '+1', '-1', '@x'].map(text)).toEqual(["'=1+1", "'+1", "'-1", "'@x"])
  expect(csvOf([{ value: -1 }])).toBe('value\r\n-1\r\n')
})
