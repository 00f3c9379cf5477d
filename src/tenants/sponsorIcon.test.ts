import { expect, test } from 'vitest'
import { isSponsorIcon } from './sponsorIcon.js'

const base64 = (count: number) => 'A'.repeat(count)
const head = 'data:image/png;base64,'

test.each([
  'https://shop.example/icon.png',
  'https://cdn.example:8443/a%20b.svg?v=1#x',
  `${head}${base64(16_384 - head.length)}`,
  'data:image/svg+xml;charset=utf-8,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E',
  'data:image/svg+xml,%3Csvg/%3E',
  'data:image/webp;base64,UklGRg==',
])('may be an icon: %.60s', (icon) => {
  expect(isSponsorIcon(icon)).toBe(true)
})

test.each([
  '',
  'icon.png',
  'http://shop.example/icon.png',
  'ipfs://cid',
  'javascript:alert(1)',
  'https://',
  'https://user:secret@shop.example/icon.png',
  'https://shop.example/a b.png',
  'https://shop.example/\u{1F600}.png',
  `https://shop.example/${'a'.repeat(2_048)}`,
  'data:text/html;base64,AAAA',
  'data:image/png;base64,',
  'data:image/png;base64,AA"AA',
  'data:image/svg+xml,<svg onload="alert(1)"/>',
  `${head}${base64(16_384)}`,
])('may not be an icon: %.60s', (icon) => {
  expect(isSponsorIcon(icon)).toBe(false)
})
