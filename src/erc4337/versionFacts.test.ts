import { expect, test } from 'vitest'
import { canonicalAddresses } from './canonicalAddresses.js'
import { createEntryPoint } from './createEntryPoint.js'
import { versionFacts, versions } from './versionFacts.js'

test.each(versions)('EntryPoint v%s says its version, its address and what it can', (version) => {
  const entryPoint = createEntryPoint(version, canonicalAddresses[version])
  expect(entryPoint).toMatchObject({
    ...versionFacts[version],
    version,
    address: canonicalAddresses[version],
  })
})

test('every version has an EntryPoint of its own, the oldest first', () => {
  expect(versions).toEqual([...versions].sort())
  expect(new Set(Object.values(canonicalAddresses)).size).toBe(versions.length)
  expect(Object.keys(canonicalAddresses)).toEqual(versions)
})

test('an account of EIP-7702 is known by its marker only where an operation carries authorizations', () => {
  for (const version of versions) {
    const { carriesAuthorization, knowsDelegationMarker } = versionFacts[version]
    expect(carriesAuthorization || !knowsDelegationMarker).toBe(true)
  }
})
