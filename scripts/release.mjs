// `npm run release -- --dry-run`: makes the artefacts of a release from the committed tree, in `release/`: the npm tarball
// (built twice in empty folders, the bytes must be equal), a CycloneDX bill of materials, the licences of all packages that
// we ship, the image where there is an engine for it, release notes and checksums. It says what a release still lacks. Without
// --dry-run, which the release workflow does, nothing may be lacking, and the tarball is published with provenance.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
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

/** The section of the changelog about the version, with the date of its heading. */
function changesOf(version) {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
  const section = sections.find((text) =>
    new RegExp(`^${version.replaceAll('.', '\\.')}\\b`).test(text),
  )
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}".`)
  const [heading, ...lines] = section.split('\n')
  return { date: heading.split(', ')[1], notes: `${lines.join('\n').trim()}\n` }
}

/** Whether the registry has the name, and the version: `free`, `ours` or `taken`. */
function nameOnNpm({ name, version, repository }) {
  const view = spawnSync('npm', ['view', name, '--json', 'versions', 'repository.url'], {
    encoding: 'utf8',
  })
  const answer = JSON.parse(view.stdout || '{}')
  if (answer.error?.code === 'E404') return 'free'
  if (view.status !== 0)
    throw new Error(`npm view ${name}: ${answer.error?.summary ?? view.stderr}`)
  const isOurs = repository !== undefined && answer['repository.url']?.includes(repository.url)
  if (isOurs && [answer.versions].flat().includes(version)) return 'published'
  return isOurs ? 'ours' : 'taken'
}

/** What a person must still do before the version can be released, one sentence each. */
function lackingOf(manifest, { date }) {
  const { version, repository, publishConfig } = manifest
  const onNpm = nameOnNpm(manifest)
  console.log(`npm: the name ${manifest.name} is ${onNpm}`)
  const stored = `test/upgrade/released/${version}.backup`
  const search = ['grep', '-l', 'ghcr.io/OWNER/', '--', 'deploy']
  const unnamed = spawnSync('git', search, { encoding: 'utf8' }).stdout.trim().split('\n')
  return [
    ['taken', 'published'].includes(onNpm) &&
      `The name or version is ${onNpm}: choose another one.`,
    publishConfig?.provenance !== true && 'package.json has no publishConfig.provenance.',
    repository === undefined &&
      'package.json names no repository: npm compares it with the workflow that signs the provenance.',
    unnamed[0] !== '' && `The owner of the image is not filled in: ${unnamed.join(', ')}.`,
    !/^\d{4}-\d{2}-\d{2}$/.test(date ?? '') && `CHANGELOG.md gives ${version} no date.`,
    !existsSync(stored) && `${stored} is missing: test/upgrade/released.test.ts writes it.`,
    !run('git', ['tag', '--points-at', 'HEAD']).split('\n').includes(`v${version}`) &&
      `HEAD does not carry the tag v${version}.`,
  ].filter(Boolean)
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

/** Builds the image for both platforms into a file, for a trial. @returns the file's name, undefined without docker */
function buildImage(folder, version) {
  if (spawnSync('docker', ['buildx', 'version']).status !== 0) return undefined
  const name = `purser-${version}.image.tar`
  const output = `type=oci,dest=${resolve(OUT, name)}`
  const platforms = ['--platform', 'linux/amd64,linux/arm64']
  run('docker', ['buildx', 'build', ...platforms, '--sbom=true', '--output', output, '.'], {
    cwd: folder,
    stdio: 'inherit',
  })
  return name
}

/** The native code that the image holds for each platform: all else in it is the same on both. */
function nativeCode(folder) {
  run('npm', ['prune', '--ignore-scripts', '--omit=dev', '--omit=optional', '--loglevel=error'], {
    cwd: folder,
  })
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true }).filter((path) =>
    path.endsWith('.node'),
  )
  return Object.entries({ amd64: 'linux-x64', arm64: 'linux-arm64' }).map(([platform, built]) => {
    const own = files.filter((path) => path.includes(built))
    return `linux/${platform}: ${own.length === 0 ? 'no native code, WebAssembly in its place' : own.join(', ')}`
  })
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

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const { version } = manifest
if (run('git', ['status', '--porcelain', '--untracked-files=no']) !== '')
  throw new Error('Commit first: a release is made from the committed tree.')
const changes = changesOf(version)
const lacking = lackingOf(manifest, changes)
if (lacking.length > 0 && !isDryRun) throw new Error(lacking.join('\n'))
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
    'notes.md': changes.notes,
  }
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT)
  for (const [name, content] of Object.entries(artefacts)) writeFileSync(join(OUT, name), content)
  const image = isDryRun ? buildImage(join(folder, 'second'), version) : undefined
  const names = [...Object.keys(artefacts), ...(image === undefined ? [] : [image])]
  const sums = names.map((name) => `${sha256(readFileSync(join(OUT, name)))}  ${name}`)
  writeFileSync(join(OUT, 'SHA256SUMS'), `${sums.join('\n')}\n`)
  const commit = run('git', ['rev-parse', 'HEAD'])
  console.log(`${version}, commit ${commit}, built twice with the same bytes:\n${sums.join('\n')}`)
  if (isDryRun && image === undefined)
    console.log('image: not built, there is no docker buildx here; the release workflow builds it')
  for (const line of nativeCode(join(folder, 'second'))) console.log(`image, ${line}`)
  for (const sentence of lacking) console.log(`lacking: ${sentence}`)
  // The workflow names the image after it.
  const { GITHUB_OUTPUT } = process.env
  if (GITHUB_OUTPUT !== undefined) appendFileSync(GITHUB_OUTPUT, `version=${version}\n`)
  if (!isDryRun)
    run('npm', ['publish', join(OUT, first.filename), '--provenance', '--access', 'public'], {
      stdio: 'inherit',
    })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
