/**
 * Runs the steps that stop started parts, the newest first. A step that fails does not keep the others
 * from running.
 * @throws the error of the first step that failed
 */
export async function stopAll(steps: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps.splice(0).reverse()) {
    await step().catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
