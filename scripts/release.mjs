// `npm run release -- --dry-run`: makes the artefacts of a release from the committed tree, in `release/`: the npm tarball
// (built twice in empty folders, the bytes must be equal), a CycloneDX bill of materials, the licences of all packages that
// we ship, and checksums. Without --dry-run, which the release workflow does, HEAD must carry the tag of the version and the
// changelog its date, and the tarball is published with provenance.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { 'dry-run': isDryRun } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
}).values
const OUT = 'release'
/** Licences that let others use, change and sell what we ship. */
const permissive = /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|CC0-1\.0|Unlicense|BlueOak-1\.0\.0)$/

function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, ...options }).trim()
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What a person must have done before: throws a sentence that says what is missing. */
function requireReleasable(version) {
  const heading = readFileSync('CHANGELOG.md', 'utf8').match(
    new RegExp(`^## ${version.replaceAll('.', '\\.')}(?:, (.*))?$`, 'm'),
  )
  if (heading === null) throw new Error(`CHANGELOG.md has no section "## ${version}".`)
  if (run('git', ['status', '--porcelain', '--untracked-files=no']) !== '')
    throw new Error('Commit first: a release is made from the committed tree.')
  if (isDryRun) return
  if (!/^\d{4}-\d{2}-\d{2}$/.test(heading[1] ?? ''))
    throw new Error(`CHANGELOG.md gives ${version} no date.`)
  if (!run('git', ['tag', '--points-at', 'HEAD']).split('\n').includes(`v${version}`))
    throw new Error(`HEAD does not carry the tag v${version}.`)
}

/** The tarball, built in an empty folder from the committed tree. */
function pack(folder) {
  run('git', ['clone', '--quiet', '--no-hardlinks', '.', folder])
  run('npm', ['ci', '--ignore-scripts', '--loglevel=error'], { cwd: folder })
  run('npm', ['run', '--silent', 'build'], { cwd: folder })
  const listed = run('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error'], {
    cwd: folder,
  })
  const [{ filename }] = JSON.parse(listed)
  return { filename, bytes: readFileSync(join(folder, filename)) }
}

/** The bill of materials. Time and serial number follow from the commit and the tarball, so that it is the same each time. */
function billOfMaterials(folder, digest) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']
  const bill = JSON.parse(run('npm', args, { cwd: folder }))
  const uuid = digest.slice(0, 32).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
  bill.serialNumber = `urn:uuid:${uuid}`
  bill.metadata.timestamp = new Date(
    run('git', ['show', '-s', '--format=%cI', 'HEAD']),
  ).toISOString()
  return bill
}

/** A line for each package that an installation may bring; throws for one whose licence is not permissive. */
function licencesOf({ packages }) {
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  return shipped.map(([path, { version, license = 'unknown', optional }]) => {
    const choices = license.replace(/[()]/g, '').split(' OR ')
    const isFine = choices.some((choice) =>
      choice.split(' AND ').every((one) => permissive.test(one)),
    )
    const name = path.replace(/^.*node_modules\//, '')
    if (!isFine) throw new Error(`${name} ${version} has the licence ${license}.`)
    return `${name} ${version} ${license}${optional ? ' (optional)' : ''}`
  })
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
requireReleasable(version)
const licences = licencesOf(JSON.parse(readFileSync('package-lock.json', 'utf8')))
const folder = mkdtempSync(join(tmpdir(), 'purser-release-'))
try {
  const [first, second] = ['first', 'second'].map((name) => pack(join(folder, name)))
  const digest = sha256(first.bytes)
  if (digest !== sha256(second.bytes))
    throw new Error('Two builds of the same commit gave different tarballs.')
  const bill = billOfMaterials(join(folder, 'first'), digest)
  const artefacts = {
    [first.filename]: first.bytes,
    [`purser-${version}.sbom.cdx.json`]: `${JSON.stringify(bill, null, 2)}\n`,
    [`purser-${version}.licences.txt`]: `${licences.sort().join('\n')}\n`,
  }
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT)
  const sums = Object.entries(artefacts).map(([name, content]) => {
    writeFileSync(join(OUT, name), content)
    return `${sha256(content)}  ${name}`
  })
  writeFileSync(join(OUT, 'SHA256SUMS'), `${sums.join('\n')}\n`)
  console.log(
    `${version}, commit ${run('git', ['rev-parse', 'HEAD'])}, built twice with the same bytes:`,
  )
  console.log(sums.join('\n'))
  console.log(
    'The image is built by the release workflow: `docker buildx build --platform linux/amd64,linux/arm64 .`',
  )
  if (!isDryRun)
    run('npm', ['publish', join(OUT, first.filename), '--provenance', '--access', 'public'], {
      stdio: 'inherit',
    })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
