// Swaps two prices, in cents.

void swap(int *a, int *b)
{
    int *old = a;
    a = b;
    b = old;
}
