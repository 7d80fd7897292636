/** Says on standard output what takes longer than a second, while it does and when it is done. */
export async function progress<T>(what: string, work: Promise<T>): Promise<T> {
  const from = Date.now();
  const seconds = () => `${((Date.now() - from) / 1000).toFixed(1)} s`;
  let said = false;
  const timer = setInterval(() => {
    console.log(said ? `  … ${seconds()}` : `${what} …`);
    said = true;
  }, 1000);
  try {
    const result = await work;
    if (said) console.log(`${what}: done in ${seconds()}.`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
